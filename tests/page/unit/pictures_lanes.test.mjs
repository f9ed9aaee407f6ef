// Coverage of pixels, hit test, gaps and sums of a selection.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  coverRow,
  firstAfter,
  gapsOf,
  hitLane,
  inOrder,
  laneRows,
  sliceLabel,
  sumSelection,
} from '../../../web/lanes.js';

/** A lane from [start, duration, name, class, row, op] and runs [start, length, busy, count, class]. */
function laneOf(slices, runs = [], id = 'gpu:0:7') {
  const column = (rows, at) => Float64Array.from(rows, (row) => row[at] ?? 0);
  return {
    start: column(slices, 0),
    duration: column(slices, 1),
    name: Uint32Array.from(slices, (s) => s[2] ?? 0),
    class: Uint8Array.from(slices, (s) => s[3] ?? 0),
    op: Uint32Array.from(slices, (s) => s[5] ?? 0),
    row: Uint8Array.from(slices, (s) => s[4] ?? 0),
    runs: {
      start: column(runs, 0),
      length: column(runs, 1),
      busy: column(runs, 2),
      count: column(runs, 3),
      longest: column(runs, 2),
      name: new Uint32Array(runs.length),
      class: Uint8Array.from(runs, (r) => r[4] ?? 0),
      row: new Uint8Array(runs.length),
    },
    meta: {id, group: 0, rows: 1 + Math.max(0, ...slices.map((s) => s[4] ?? 0))},
  };
}

function covered(lane, t0, t1, width, classes = 2, wanted = null) {
  const cover = new Float32Array(width * classes * (wanted ? 2 : 1)),
    edges = new Uint8Array(width);
  for (const row of laneRows(lane)) coverRow(lane, row, t0, t1, width, classes, cover, edges, wanted);
  return {cover, edges, sum: cover.reduce((a, b) => a + b, 0)};
}

test('short slices add up to their time within a pixel', () => {
  const lane = laneOf([
    [0, 20, 1, 0],
    [50, 30, 1, 1],
    [100, 10, 1, 0],
  ]);
  const {cover} = covered(lane, 0, 200, 2);
  assert.ok(Math.abs(cover[0] - 0.2) < 1e-4 && Math.abs(cover[1] - 0.3) < 1e-4 && Math.abs(cover[2] - 0.1) < 1e-4);
});

test('coverage of many slices is their time, wherever pixels begin', () => {
  const slices = [];
  for (let i = 0, at = 0; i < 5000; ++i) {
    slices.push([at, 1 + (i % 7), 1, i % 2]);
    at += 3 + (i % 11);
  }
  const lane = laneOf(slices),
    end = slices.at(-1)[0] + slices.at(-1)[1];
  const busy = slices.reduce((sum, slice) => sum + slice[1], 0);
  const {sum} = covered(lane, 0, end, 333);
  assert.ok(Math.abs(sum / 333 - busy / end) < 1e-3);
});

test('a wide slice has whole pixels and an edge, cut at the window', () => {
  const lane = laneOf([[0, 1000, 1, 0]]);
  const {cover, edges} = covered(lane, 100, 500, 40, 1);
  assert.ok(cover.every((part) => part === 1));
  assert.deepEqual(
    [...edges.keys()].filter((x) => edges[x]),
    [39],
  );
});

test('a run is as high as it is busy', () => {
  const {cover} = covered(laneOf([], [[0, 100, 25, 10, 1]]), 0, 100, 10);
  for (let x = 0; x < 10; ++x) assert.ok(Math.abs(cover[x * 2 + 1] - 0.25) < 1e-6);
});

test('what is not wanted counts as faded', () => {
  const wanted = {names: new Uint8Array([0, 1, 0]), ops: new Uint8Array([0, 0, 1])};
  const {cover} = covered(
    laneOf([
      [0, 10, 1, 0],
      [10, 10, 2, 0],
    ]),
    0,
    20,
    2,
    1,
    wanted,
  );
  assert.deepEqual([cover[0] > 0.9, cover[1] > 0, cover[2] > 0.1, cover[3] > 0.9], [true, false, false, true]);
  assert.ok(covered(laneOf([[0, 10, 2, 0, 0, 2]]), 0, 10, 1, 1, wanted).cover[0] > 0.9);
});

test('binary search finds the first slice that ends later', () => {
  const start = Float64Array.of(0, 10, 20),
    length = Float64Array.of(5, 5, 5);
  assert.deepEqual(
    [-1, 4, 5, 16, 25].map((moment) => firstAfter(start, length, 0, 3, moment)),
    [0, 0, 1, 2, 3],
  );
});

test('hit test: inside, near, the longest of many, a run, nothing', () => {
  const lane = laneOf(
    [
      [0, 10, 1],
      [100, 1, 1],
      [102, 3, 2],
      [106, 1, 1],
      [0, 50, 3, 0, 1],
    ],
    [[200, 100, 50, 9, 0]],
  );
  assert.equal(hitLane(lane, 0, 5, 0)?.place, 0);
  assert.equal(hitLane(lane, 0, 12, 3)?.place, 0);
  assert.equal(hitLane(lane, 0, 104, 10)?.place, 2);
  assert.equal(hitLane(lane, 1, 5, 0)?.place, 4);
  assert.deepEqual([hitLane(lane, 0, 250, 5)?.isRun, hitLane(lane, 0, 250, 5)?.place], [true, 0]);
  assert.equal(hitLane(lane, 0, 50, 5), null);
  assert.equal(hitLane(lane, 7, 5, 5), null);
});

test('gaps of a device are where no stream works', () => {
  const a = laneOf([
      [0, 10, 1],
      [40, 10, 1],
    ]),
    b = laneOf(
      [
        [5, 20, 1],
        [100, 1, 1],
      ],
      [[60, 20, 5, 3, 0]],
    );
  assert.deepEqual(gapsOf([a, b]), [
    {start: 25, end: 40},
    {start: 50, end: 60},
    {start: 80, end: 100},
  ]);
  const order = [];
  inOrder([a, b], 0, 1000, (start) => order.push(start));
  assert.deepEqual(order, [0, 5, 40, 60, 100]);
});

test('a selection: busy is the union of streams, per name whole slices, runs apart', () => {
  const a = laneOf([
      [0, 10, 1, 0],
      [20, 10, 1, 0],
    ]),
    b = laneOf([[5, 10, 2, 1]], [[40, 20, 5, 4, 0]]);
  const sum = sumSelection([a, b], 0, 100, (kind) => kind === 1);
  assert.deepEqual([sum.busy, sum.idle, sum.communicating, sum.devices], [30, 70, 10, 1]);
  assert.deepEqual(sum.names.get(1), {count: 2, sum: 20, least: 10, most: 10, class: 0});
  assert.deepEqual(sum.merged, {busy: 5, count: 4});
  const part = sumSelection([a, b], 5, 25, (kind) => kind === 1);
  assert.deepEqual([part.busy, part.cut, part.names.get(1).sum], [15, 2, 20]);
  const two = sumSelection([a, laneOf([[0, 50, 1, 0]], [], 'gpu:1:7')], 0, 50, () => false);
  assert.deepEqual([two.devices, two.busyPercent], [2, 70]);
});

test('labels leave out what says little', () => {
  assert.equal(sliceLabel('void at::native::elementwise_kernel<128, 4>(int)'), 'elementwise_kernel');
  assert.equal(sliceLabel('nvjet_tst_128x160'), 'nvjet_tst_128x160');
  assert.equal(sliceLabel('aten::linear'), 'aten::linear');
  assert.equal(sliceLabel('<b>'), '<b>');
  assert.equal(sliceLabel('nn.Module: MLP_3'), 'MLP_3');
  assert.equal(sliceLabel('Memcpy HtoD (Pinned -> Device)'), 'Memcpy HtoD');
});
