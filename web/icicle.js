// icicle.js: boxes of the tree of modules, ops and kernels: width is GPU time, depth goes down.

/** @typedef {{parent: ArrayLike<number>, name: string[], level: ArrayLike<number>, class: ArrayLike<number>, gpu: ArrayLike<number>, backward: ArrayLike<number>,
 *   calls: ArrayLike<number>, gpu_events: ArrayLike<number>, op: ArrayLike<number>, first?: ArrayLike<number>}} TreeNodes `first`: the place it has in the page
 * @typedef {{node: number, depth: number, x0: number, x1: number}} IcicleBox x from 0 to 1 */

/** `Block_11` -> `Block` @param {string} name */
export function moduleType(name) {
  return name.replace(/[_.]\d+$/, '') || name;
}

/** Nodes of one kind below the same parent as one, with their sums. @param {TreeNodes} nodes @returns {TreeNodes} */
export function mergeInstances(nodes) {
  /** @type {Record<string, any[]>} */
  const merged = {
    parent: [],
    name: [],
    level: [],
    class: [],
    gpu: [],
    backward: [],
    calls: [],
    gpu_events: [],
    op: [],
    first: [],
  };
  const places = new Map(),
    to = new Uint32Array(nodes.name.length);
  for (let i = 0; i < nodes.name.length; ++i) {
    const parent = nodes.parent[i] ? to[nodes.parent[i] - 1] + 1 : 0;
    const name = nodes.level[i] === 0 ? moduleType(nodes.name[i]) : nodes.name[i];
    const key = `${parent} ${nodes.level[i]} ${name}`;
    let at = places.get(key);
    if (at === undefined) {
      places.set(key, (at = merged.name.length));
      const row = {
        parent,
        name,
        level: nodes.level[i],
        class: nodes.class[i],
        gpu: 0,
        backward: 0,
        calls: 0,
        gpu_events: 0,
        op: nodes.op[i],
        first: i,
      };
      for (const [column, value] of Object.entries(row)) merged[column].push(value);
    }
    to[i] = at;
    for (const column of /** @type {const} */ (['gpu', 'backward', 'calls', 'gpu_events']))
      merged[column][at] += nodes[column][i];
  }
  return /** @type {any} */ (merged);
}

/** Children of every node, and the roots in the last list. @param {TreeNodes} nodes @returns {number[][]} */
export function childrenOf(nodes) {
  /** @type {number[][]} */
  const lists = Array.from({length: nodes.name.length + 1}, () => []);
  for (let i = 0; i < nodes.name.length; ++i) lists[nodes.parent[i] ? nodes.parent[i] - 1 : nodes.name.length].push(i);
  return lists;
}

/** Boxes at least `least` wide, of one node or (-1) of all roots: call order, or the costliest first.
 * @param {TreeNodes} nodes @param {number[][]} children @param {number} root @param {boolean} heavyFirst @param {number} least @returns {IcicleBox[]} */
export function icicleBoxes(nodes, children, root, heavyFirst, least) {
  /** @type {IcicleBox[]} */
  const boxes = [];
  const tops = root >= 0 ? [root] : children[nodes.name.length];
  let total = 0;
  for (const top of tops) total += nodes.gpu[top];
  if (!(total > 0)) return boxes;
  const lay = (list, x, depth) => {
    const order = heavyFirst ? [...list].sort((a, b) => nodes.gpu[b] - nodes.gpu[a]) : list;
    for (const node of order) {
      const width = nodes.gpu[node] / total;
      if (width >= least) waiting.push({node, depth, x0: x, x1: x + width});
      x += width;
    }
  };
  /** @type {IcicleBox[]} */
  const waiting = []; // instead of recursion: a tree may be deep
  lay(tops, 0, 0);
  while (waiting.length) {
    const box = /** @type {IcicleBox} */ (waiting.pop());
    boxes.push(box);
    lay(children[box.node], box.x0, box.depth + 1);
  }
  return boxes;
}

/** From the root to the node. @param {TreeNodes} nodes @param {number} node @returns {number[]} */
export function pathTo(nodes, node) {
  const path = [];
  for (let at = node; at >= 0; at = nodes.parent[at] - 1) path.unshift(at);
  return path;
}

/** The ops below a node, equal ones together, the costliest first. @param {TreeNodes} nodes @param {number[][]} children @param {number} node */
export function opsBelow(nodes, children, node) {
  const sums = new Map(),
    waiting = [node];
  while (waiting.length) {
    const at = /** @type {number} */ (waiting.pop());
    if (nodes.level[at] !== 2) {
      waiting.push(...children[at]);
      continue;
    }
    const key = `${nodes.op[at]} ${nodes.name[at]}`,
      sum = sums.get(key) ?? {name: nodes.name[at], op: nodes.op[at], gpu: 0, backward: 0, calls: 0};
    sum.gpu += nodes.gpu[at];
    sum.backward += nodes.backward[at];
    sum.calls += nodes.calls[at];
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.gpu - a.gpu);
}

/** Percent of the roof of each node: of ops as the table tells, of what stands above them the mean by GPU time.
 * @param {TreeNodes} nodes @param {(op: number) => number | null} ofOp @returns {(number | null)[]} */
export function roofOfNodes(nodes, ofOp) {
  const known = new Float64Array(nodes.name.length),
    sum = new Float64Array(nodes.name.length);
  for (let i = nodes.name.length - 1; i >= 0; --i) {
    const told = nodes.level[i] === 2 && nodes.op[i] ? ofOp(nodes.op[i] - 1) : null;
    if (told !== null) {
      known[i] = nodes.gpu[i];
      sum[i] = told * nodes.gpu[i];
    }
    if (!nodes.parent[i]) continue;
    known[nodes.parent[i] - 1] += known[i];
    sum[nodes.parent[i] - 1] += sum[i];
  }
  return Array.from(known, (time, i) => (time > 0 ? sum[i] / time : null));
}

/** Of two runs, each below a root of its own: the GPU time of each node in the first and in the second, by equal paths.
 * @param {TreeNodes} nodes @returns {{base: Float64Array, next: Float64Array}} */
export function timesOfBoth(nodes) {
  const base = new Float64Array(nodes.name.length),
    next = new Float64Array(nodes.name.length);
  /** @type {Map<string, number>} */
  const ids = new Map();
  const run = new Uint8Array(nodes.name.length),
    id = new Uint32Array(nodes.name.length),
    sums = [new Float64Array(nodes.name.length + 1), new Float64Array(nodes.name.length + 1)];
  let roots = 0;
  for (let i = 0; i < nodes.name.length; ++i) {
    const parent = nodes.parent[i] - 1,
      key = parent < 0 ? '' : `${id[parent]} ${nodes.level[i]} ${nodes.name[i]}`;
    run[i] = parent < 0 ? Math.min(1, roots++) : run[parent];
    if (!ids.has(key)) ids.set(key, ids.size);
    id[i] = ids.get(key) ?? 0;
    sums[run[i]][id[i]] += nodes.gpu[i];
  }
  for (let i = 0; i < nodes.name.length; ++i) [base[i], next[i]] = [sums[0][id[i]], sums[1][id[i]]];
  return {base, next};
}
