// Boxes of the tree of modules.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  childrenOf,
  icicleBoxes,
  mergeInstances,
  moduleType,
  opsBelow,
  pathTo,
  roofOfNodes,
  timesOfBoth,
} from '../../../web/icicle.js';

// Net > (Block_0 > mm > k, Block_1 > (mm > k, add > k))
const tree = {
  parent: [0, 1, 2, 3, 1, 5, 6, 5, 8],
  name: ['Net', 'Block_0', 'mm', 'k', 'Block_1', 'mm', 'k', 'add', 'k'],
  level: [0, 0, 2, 3, 0, 2, 3, 2, 3],
  class: [9, 9, 1, 1, 9, 1, 1, 2, 2],
  gpu: [100, 30, 30, 30, 70, 50, 50, 20, 20],
  backward: [40, 0, 0, 0, 40, 40, 40, 0, 0],
  calls: [1, 1, 2, 2, 1, 3, 3, 1, 1],
  gpu_events: [6, 2, 2, 2, 4, 3, 3, 1, 1],
  op: [0, 0, 1, 0, 0, 1, 0, 2, 0],
};

test('boxes lie inside their parents and beside each other', () => {
  const boxes = icicleBoxes(tree, childrenOf(tree), -1, false, 0);
  assert.equal(boxes.length, 9);
  const of = (node) => boxes.find((box) => box.node === node);
  assert.deepEqual([of(0).x0, of(0).x1, of(1).x1, of(4).x0, of(4).x1], [0, 1, 0.3, 0.3, 1]);
  for (const box of boxes) {
    const parent = tree.parent[box.node] && of(tree.parent[box.node] - 1);
    if (parent) assert.ok(box.depth === parent.depth + 1 && box.x0 >= parent.x0 - 1e-9 && box.x1 <= parent.x1 + 1e-9);
  }
});

test('left heavy puts the costliest first; narrow boxes are left out with all below', () => {
  const heavy = icicleBoxes(tree, childrenOf(tree), -1, true, 0);
  assert.equal(heavy.find((box) => box.node === 4).x0, 0);
  assert.deepEqual(
    icicleBoxes(tree, childrenOf(tree), -1, false, 0.4)
      .map((box) => box.node)
      .sort(),
    [0, 4, 5, 6],
  );
  assert.deepEqual(icicleBoxes(tree, childrenOf(tree), 4, false, 0).find((box) => box.node === 7).x1, 1);
  assert.deepEqual(icicleBoxes({...tree, gpu: new Array(9).fill(0)}, childrenOf(tree), -1, false, 0), []);
});

test('instances of one module become one, with all their time', () => {
  assert.deepEqual(['Block_11', 'layers.3', 'Conv2d', '_0'].map(moduleType), ['Block', 'layers', 'Conv2d', '_0']);
  const merged = mergeInstances(tree);
  assert.deepEqual(merged.name, ['Net', 'Block', 'mm', 'k', 'add', 'k']);
  assert.deepEqual(merged.gpu, [100, 100, 80, 80, 20, 20]);
  assert.deepEqual(merged.calls, [1, 2, 5, 5, 1, 1]);
  assert.deepEqual([merged.first[4], merged.backward[2]], [7, 40]);
});

test('path, ops below, and percent of roof by time', () => {
  assert.deepEqual(pathTo(tree, 7), [0, 4, 7]);
  assert.deepEqual(
    opsBelow(tree, childrenOf(tree), 0).map((op) => [op.name, op.gpu, op.calls]),
    [
      ['mm', 80, 5],
      ['add', 20, 1],
    ],
  );
  assert.deepEqual(
    roofOfNodes(tree, (op) => (op === 0 ? 50 : null)),
    [50, 50, 50, null, 50, 50, null, null, null],
  );
});

test('nodes of two runs are paired by their path', () => {
  const two = {
    ...tree,
    parent: [0, 1, 2, 0, 4, 5, 4],
    name: ['base', 'Net', 'mm', 'new', 'Net', 'mm', 'Other'],
    level: [1, 0, 2, 1, 0, 2, 0],
    gpu: [10, 10, 4, 9, 6, 5, 3],
  };
  const {base, next} = timesOfBoth(two);
  assert.deepEqual([...base], [10, 10, 4, 10, 10, 4, 0]);
  assert.deepEqual([...next], [9, 6, 5, 9, 6, 5, 3]);
});
