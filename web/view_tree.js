// view_tree.js: where the GPU time went by module, op and kernel: an icicle whose widths are GPU time.
import {button, clear, el, traceText} from './dom.js';
import {detailList, openDrawer} from './drawer.js';
import {childrenOf, icicleBoxes, mergeInstances, opsBelow, pathTo, roofOfNodes, timesOfBoth} from './icicle.js';
import {sliceLabel} from './lanes.js';
import {
  choice,
  fitCanvas,
  hideTip,
  inkOn,
  keepDrawn,
  legend,
  legible,
  mixColour,
  pictureTable,
  showTip,
  themeOf,
  toggle,
} from './picture.js';
import {hashOf, say, state} from './route.js';
import {dataTable, pictureWithTable} from './table.js';
import {count, exactTime, percent, shapesText, shortName, time, typesText, visible} from './text.js';

const kLevelNames = ['module', 'annotation', 'op', 'kernel'];

/** @type {((event: KeyboardEvent) => boolean) | null} */
let treeKeys = null;

export const treeView = {
  id: 'tree',
  title: 'Modules',
  key: '',
  /** @param {import('./data.js').Page} page */
  isThere: (page) => page.manifest.nodes_blob >= 0 && page.has('tree'),
  /** @param {import('./data.js').Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const [given, ops, work] = await Promise.all([page.nodes(), page.ops(), page.table('unified_perf_summary')]);
    /** @type {any[]} */
    const classes = page.manifest.classes;
    const merged = mergeInstances(given),
      wholes = [given, merged].map(childrenOf);
    /** @type {Map<string, number>} */
    const roofs = new Map();
    const dims = work?.column('Input Dims')?.values ?? [],
      types = work?.column('Input type')?.values ?? [],
      told = work?.column('Pct Roofline_mean')?.values ?? [];
    work
      ?.column('name')
      ?.values.forEach(
        (name, row) => typeof told[row] === 'number' && roofs.set([name, dims[row], types[row]].join('\n'), told[row]),
      );
    const shares = [given, merged].map((nodes) =>
      roofOfNodes(nodes, (op) => roofs.get([ops.name[op], ops.shapes[op], ops.types[op]].join('\n')) ?? null),
    );
    const both = page.manifest.groups.length === 2 ? [given, merged].map(timesOfBoth) : null;
    let merges = state.get('merge') === '1',
      heavy = state.get('heavy') === '1',
      colouring = state.get('colour') ?? 'class';
    let nodes = merges ? merged : given,
      children = wholes[+merges],
      asked = Number(state.get('node') ?? -1);
    let root = Number.isInteger(asked) && asked >= 0 && asked < nodes.name.length ? asked : -1,
      focus = root;
    if (asked !== root) say('The node of this link is not in this page.');
    /** @type {import('./icicle.js').IcicleBox[]} */
    let boxes = [],
      rowHeight = 26;
    const canvas = el('canvas', {role: 'img'}),
      outline = el('div', {class: 'tl-outline', hidden: true}),
      pathLine = el('nav', {class: 'path', 'aria-label': 'Path'}),
      legendPlace = el('div', {});
    const layer = el(
      'div',
      {
        class: 'icicle',
        tabindex: '0',
        role: 'application',
        'aria-label': 'Tree of modules. Arrow keys move, Enter zooms in, Backspace goes up, o opens the details.',
      },
      canvas,
      outline,
    );
    const total = () =>
      root >= 0 ? nodes.gpu[root] : children[nodes.name.length].reduce((sum, at) => sum + nodes.gpu[at], 0);
    const all = given.name.reduce((sum, _, i) => sum + (given.parent[i] ? 0 : given.gpu[i]), 0);
    const roofOf = (node) =>
      shares[+merges][nodes.level[node] === 3 && nodes.parent[node] ? nodes.parent[node] - 1 : node];
    const isInside = (node) => node >= 0 && (root < 0 || pathTo(nodes, node).includes(root));
    const describe = (node) =>
      `${kLevelNames[nodes.level[node]]} ${visible(shortName(nodes.name[node], 70))}: ${time(nodes.gpu[node])}, ${percent((100 * nodes.gpu[node]) / all)} of GPU time`;

    const drawBoxes = () => {
      const width = layer.clientWidth,
        theme = themeOf(layer);
      if (width < 10) return;
      const above = root >= 0 ? pathTo(nodes, root).slice(0, -1) : [];
      boxes = [
        ...above.map((node, depth) => ({node, depth, x0: 0, x1: 1})),
        ...icicleBoxes(nodes, children, root, heavy, 0.8 / width).map((box) => ({
          ...box,
          depth: box.depth + above.length,
        })),
      ];
      const rows = 1 + boxes.reduce((most, box) => Math.max(most, box.depth), 0);
      rowHeight = Math.max(26, Math.min(44, Math.floor((innerHeight - 340) / rows)));
      const {context} = fitCanvas(canvas, width, rows * rowHeight);
      context.font = '12px system-ui, sans-serif';
      context.textBaseline = 'middle';
      for (const {node, depth, x0, x1} of boxes) {
        const share = roofOf(node),
          isAbove = depth < above.length;
        const base = theme.forced
          ? theme.ink
          : colouring === 'change' && both
            ? changeColour(both[+merges].base[node], both[+merges].next[node], theme)
            : colouring === 'roof'
              ? share === null
                ? theme.rule
                : roofColour(share, theme.paper)
              : legible(classes[nodes.class[node]]?.colour ?? '#888888', theme.paper);
        // What only holds others is pale: colour belongs to work.
        const colour = isAbove
          ? theme.rule
          : colouring === 'class' && nodes.level[node] < 2 && !theme.forced
            ? mixColour(base, theme.paper, 0.72)
            : base;
        const left = x0 * width,
          wide = Math.max(0.7, (x1 - x0) * width - 1),
          top = depth * rowHeight,
          high = rowHeight - 1;
        context.fillStyle = colour;
        context.fillRect(left, top, wide, high);
        const hatched = nodes.gpu[node] > 0 ? wide * Math.min(1, nodes.backward[node] / nodes.gpu[node]) : 0;
        if (hatched >= 1 && !isAbove)
          drawHatch(context, left + wide - hatched, top, hatched, high, mixColour(colour, theme.paper, 0.4));
        if (wide < 34) continue;
        const room = Math.floor((wide - 10) / 6.6),
          name = nodes.name[node];
        const label =
          nodes.level[node] === 3 ? sliceLabel(name) : visible(name.length > room ? name.replace(/^aten::/, '') : name);
        const text = label.length > room ? label.slice(0, Math.max(1, room - 1)) + '…' : label;
        if (hatched > wide - 8) {
          context.fillStyle = colour;
          context.fillRect(left + 3, top + 4, Math.min(context.measureText(text).width + 6, wide - 3), high - 8);
        }
        context.fillStyle = inkOn(colour);
        context.fillText(text, left + 5, top + high / 2 + 1, wide - 8);
      }
      canvas.setAttribute(
        'aria-label',
        `GPU time by module: ${time(total())}${root >= 0 ? ' in ' + visible(nodes.name[root]) : ''}; the largest: ${[
          ...(root >= 0 ? children[root] : children[nodes.name.length]),
        ]
          .sort((a, b) => nodes.gpu[b] - nodes.gpu[a])
          .slice(0, 3)
          .map(
            (node) =>
              `${visible(shortName(nodes.name[node], 40))} ${percent((100 * nodes.gpu[node]) / Math.max(1, total()))}`,
          )
          .join(', ')}`,
      );
      const used = new Set(boxes.map(({node}) => nodes.class[node]));
      clear(legendPlace).append(
        colouring === 'change'
          ? legend(
              [
                {name: 'faster', colour: changeColour(2, 1, theme)},
                {name: 'as before', colour: changeColour(1, 1, theme)},
                {name: 'slower', colour: changeColour(1, 2, theme)},
              ],
              theme.paper,
            )
          : colouring === 'roof'
            ? legend(
                [10, 30, 50, 70, 90].map((share) => ({
                  name: `${share} % of roof`,
                  colour: roofColour(share, theme.paper),
                })),
                theme.paper,
              )
            : legend(
                [...classes.filter((_, i) => used.has(i)), {name: 'backward', colour: '#888888', hatched: true}],
                theme.paper,
              ),
      );
      drawFocus();
    };
    const drawFocus = () => {
      const box = boxes.find(({node}) => node === focus),
        width = layer.clientWidth;
      outline.hidden = !box;
      if (box)
        Object.assign(outline.style, {
          left: `${box.x0 * width - 1}px`,
          width: `${Math.max(4, (box.x1 - box.x0) * width + 1)}px`,
          top: `${box.depth * rowHeight - 1}px`,
          height: `${rowHeight + 1}px`,
        });
      clear(pathLine).append(
        button('All', () => zoom(-1), {class: 'button quiet'}),
        ...(focus >= 0
          ? pathTo(nodes, focus).flatMap((node) => [
              el('span', {class: 'muted', 'aria-hidden': 'true'}, '›'),
              button(visible(shortName(nodes.name[node], 40)), () => zoom(node), {class: 'button quiet'}),
            ])
          : []),
        el(
          'span',
          {class: 'path-figures digits'},
          focus >= 0
            ? `${time(nodes.gpu[focus], 4)} · ${percent((100 * nodes.gpu[focus]) / all)} · ${count(nodes.calls[focus])} calls`
            : time(all, 4),
        ),
        ...(focus >= 0 ? [button('Ops', () => details(focus), {title: 'The ops below it (o)'})] : []),
      );
    };
    const zoom = (node) => {
      root = focus = node;
      state.set({node: node < 0 ? null : (nodes.first?.[node] ?? node)});
      say(node < 0 ? 'All modules' : describe(node));
      drawBoxes();
    };
    const pick = (node) => {
      focus = node;
      say(describe(node));
      drawFocus();
    };
    const up = () => root >= 0 && zoom(nodes.parent[root] - 1);
    const details = (node) => {
      const rows = opsBelow(nodes, children, node),
        op = (row) => row.op - 1;
      openDrawer(
        traceText(nodes.name[node], 80),
        detailList([
          [
            'Path',
            el(
              'span',
              {class: 'wrap'},
              pathTo(nodes, node)
                .map((at) => visible(nodes.name[at]))
                .join(' › '),
            ),
          ],
          ['Kind', kLevelNames[nodes.level[node]]],
          ['Name', nodes.name[node].length > 80 ? traceText(nodes.name[node]) : null],
          ['GPU time', el('b', {class: 'digits'}, exactTime(nodes.gpu[node]))],
          ['Share', percent((100 * nodes.gpu[node]) / all)],
          ['Backward', nodes.backward[node] ? exactTime(nodes.backward[node]) : null],
          ['Calls', count(nodes.calls[node])],
          ['GPU events', count(nodes.gpu_events[node])],
          ['Of roof', roofOf(node) === null ? null : `${percent(/** @type {number} */ (roofOf(node)))}, mean by time`],
        ]),
        el(
          'div',
          {class: 'toolbar'},
          el('a', {class: 'button', href: hashOf('timeline', '', [['q', nodes.name[node]]])}, 'On the timeline'),
        ),
        rows.length
          ? dataTable({
              caption: 'Ops below it',
              table: pictureTable('ops_of_node', 'Ops below it', [
                ['op', '', 0, rows.map((row) => row.name)],
                ['GPU time', 'µs', 2, rows.map((row) => row.gpu / 1000)],
                ['calls', '', 1, rows.map((row) => row.calls)],
                ['shapes', '', 0, rows.map((row) => (row.op ? shapesText(ops.shapes[op(row)]) : null))],
                ['types', '', 0, rows.map((row) => (row.op ? typesText(ops.types[op(row)]) : null))],
                ['backward', 'µs', 2, rows.map((row) => row.backward / 1000)],
              ]),
            })
          : null,
      );
    };
    const redo = () => {
      const page_place = root < 0 ? -1 : (nodes.first?.[root] ?? root);
      nodes = merges ? merged : given;
      children = wholes[+merges];
      root =
        page_place < 0 ? -1 : merges ? Math.max(-1, Array.from(merged.first ?? []).indexOf(page_place)) : page_place;
      focus = root;
      state.set({
        merge: merges ? '1' : null,
        heavy: heavy ? '1' : null,
        colour: colouring === 'class' ? null : colouring,
      });
      drawBoxes();
    };
    const boxAt = (event) => {
      const x = event.offsetX / layer.clientWidth,
        depth = Math.floor(event.offsetY / rowHeight);
      return boxes.find((box) => box.depth === depth && box.x0 <= x && x < box.x1) ?? null;
    };
    layer.addEventListener('pointermove', (event) => {
      const node = boxAt(event)?.node;
      layer.classList.toggle('over', node !== undefined);
      if (node === undefined) return hideTip();
      const share = roofOf(node);
      showTip(
        event,
        visible(shortName(nodes.name[node], 100)),
        `${kLevelNames[nodes.level[node]]} · ${time(nodes.gpu[node], 4)} · ${percent((100 * nodes.gpu[node]) / all)}`,
        `${count(nodes.calls[node])} calls, ${count(nodes.gpu_events[node])} GPU events`,
        nodes.backward[node] ? `backward ${time(nodes.backward[node])}` : null,
        share === null ? null : `${percent(share)} of roof`,
        both
          ? `${visible(page.manifest.groups[0])} ${time(both[+merges].base[node])}, ${visible(page.manifest.groups[1])} ${time(both[+merges].next[node])}`
          : null,
      );
    });
    layer.addEventListener('pointerleave', hideTip);
    layer.addEventListener('click', (event) => {
      const box = boxAt(event);
      if (!box) return;
      zoom(box.node);
      if (children[box.node].length === 0 || nodes.level[box.node] >= 2) details(box.node);
    });
    treeKeys = ({key, target}) => {
      const siblings =
        focus < 0
          ? []
          : boxes
              .filter((box) => nodes.parent[box.node] === nodes.parent[focus])
              .sort((a, b) => a.x0 - b.x0)
              .map(({node}) => node);
      const down = boxes
        .filter((box) => (focus < 0 ? box.depth === 0 : nodes.parent[box.node] - 1 === focus))
        .sort((a, b) => a.x0 - b.x0)[0];
      const beside = siblings[siblings.indexOf(focus) + (key === 'ArrowLeft' ? -1 : 1)];
      if (key === 'Backspace') return up(), true;
      if (key === 'o' && focus >= 0) return details(focus), true;
      if (target !== layer) return false;
      if (key === 'ArrowDown' && down) return pick(down.node), true;
      if (key === 'ArrowUp' && focus >= 0 && nodes.parent[focus]) return pick(nodes.parent[focus] - 1), true;
      if ((key === 'ArrowLeft' || key === 'ArrowRight') && beside !== undefined) return pick(beside), true;
      if (key === 'Enter' && focus >= 0) return zoom(focus), details(focus), true;
      return false;
    };
    const table = () => {
      const rows = Array.from(nodes.name.keys()).filter((node) => root < 0 || isInside(node));
      return pictureTable('tree', 'GPU time by module, op and kernel: a time holds what is below', [
        ['node', '', 0, rows.map((node) => '\u00a0\u00a0'.repeat(pathTo(nodes, node).length - 1) + nodes.name[node])],
        ['kind', '', 0, rows.map((node) => kLevelNames[nodes.level[node]])],
        ['GPU time', 'µs', 2, rows.map((node) => nodes.gpu[node] / 1000)],
        ['share', '%', 2, rows.map((node) => (100 * nodes.gpu[node]) / all)],
        ['backward', 'µs', 2, rows.map((node) => nodes.backward[node] / 1000)],
        ['calls', '', 1, rows.map((node) => nodes.calls[node])],
        ['GPU events', '', 1, rows.map((node) => nodes.gpu_events[node])],
      ]);
    };
    into.append(
      el(
        'div',
        {class: 'toolbar'},
        choice(
          'Colour',
          [
            ['class', 'category'],
            ...(roofs.size ? [['roof', 'percent of roof']] : []),
            ...(both ? [['change', 'change']] : []),
          ],
          colouring,
          (value) => {
            colouring = value;
            redo();
          },
        ),
        toggle(
          'Left heavy',
          heavy,
          (isOn) => {
            heavy = isOn;
            redo();
          },
          {title: 'The costliest first, instead of call order'},
        ),
        toggle(
          'Merge instances',
          merges,
          (isOn) => {
            merges = isOn;
            redo();
          },
          {title: 'Block_0 … Block_11 as one Block'},
        ),
        button('Up', up, {title: 'Zoom out by one (Backspace)'}),
      ),
      pathLine,
      pictureWithTable(layer, table, 'tree'),
      legendPlace,
    );
    keepDrawn(layer, drawBoxes);
  },
  keys: (event) => (event.ctrlKey ? false : (treeKeys?.(event) ?? false)),
  leave() {
    treeKeys = null;
    hideTip();
  },
};

/** Green got faster, red slower; grey stayed. @param {number} base @param {number} next @param {{ink: string, paper: string, rule: string, muted: string}} theme */
export function changeColour(base, next, theme) {
  const change = (next - base) / Math.max(base, next, 1);
  return mixColour(
    mixColour(theme.muted, theme.paper, 0.6),
    legible(change > 0 ? '#c01c28' : '#1f7a4d', theme.paper),
    Math.min(1, Math.abs(change) * 2),
  );
}

/** Red is far from the roof, green is close to it. @param {number} share @param {string} paper */
export function roofColour(share, paper) {
  const at = Math.max(0, Math.min(2, share / 45));
  return legible(at < 1 ? mixColour('#c8452f', '#d9a032', at) : mixColour('#d9a032', '#138a72', at - 1), paper);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} width @param {number} height @param {string} colour */
function drawHatch(context, x, y, width, height, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.beginPath();
  for (let at = x - height - (x % 7); at < x + width; at += 7) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}
