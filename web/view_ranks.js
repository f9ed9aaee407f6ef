// view_ranks.js: who waits for whom: waiting by rank and collective, one collective in detail, exchanges, bandwidth.
import {extentOf, plotOf} from './axes.js';
import {clear, el, svgEl} from './dom.js';
import {
  appendTables,
  cellsOf,
  choice,
  fitCanvas,
  hideTip,
  keepDrawn,
  legible,
  mixColour,
  pictureTable,
  showTip,
  themeOf,
} from './picture.js';
import {say, state} from './route.js';
import {pictureWithTable} from './table.js';
import {fourDigits, humanNumber, percent, visible} from './text.js';

const kHeatColour = '#b5332e',
  kMostHeatColumns = 2000,
  kMostHeatRows = 64,
  kLongHeatRow = 14;
const kPlotColours = [
  '#2f7ed8',
  '#c98219',
  '#2ca58d',
  '#8c5ac8',
  '#b8527f',
  '#5b8e3e',
  '#c46a2b',
  '#4d9db4',
  '#7b86c2',
  '#7a8794',
];

/** Columns of a heat map that share a place: the bounds of each bin. @param {number} columns @param {number} most @returns {number[][]} */
export function heatBins(columns, most) {
  const bins = Math.min(columns, Math.max(1, Math.floor(most)));
  return Array.from({length: bins}, (_, i) => [
    Math.floor((i * columns) / bins),
    Math.floor(((i + 1) * columns) / bins),
  ]);
}

/** @typedef {{label: string, rows: string[], columns: string[], value: (row: number, column: number) => number | null, total?: (row: number) => string, unit: string, onPick?: (row: number, column: number) => void, tip: (row: number, column: number) => (string | null)[], square?: boolean}} HeatOptions */

/** A heat map: zero is blank; where there are more columns than room, the largest of each bin. @param {HeatOptions} options */
function heatMap(options) {
  const {rows, columns} = options,
    isLong = rows.length > kMostHeatRows, // then the box scrolls, and only the rows in sight are drawn
    canvas = el('canvas', {role: 'img', 'aria-label': options.label}),
    spacer = isLong ? el('div', {style: {height: `${(rows.length - kMostHeatRows) * kLongHeatRow}px`}}) : null;
  const box = el(
    'div',
    {
      class: isLong ? 'heat long' : 'heat',
      tabindex: '0',
      role: 'application',
      'aria-label': `${options.label}. Arrow keys move, Enter opens.`,
    },
    canvas,
    spacer,
  );
  const left = 64,
    right = options.total ? 84 : 8,
    top = 20;
  let high = 20,
    wide = 1,
    firstRow = 0,
    at = [0, 0],
    /** @type {number[][]} */ bins = [];
  const largestOf = (/** @type {number} */ row, /** @type {number[]} */ [from, to]) => {
    let best = from;
    for (let column = from + 1; column < to; ++column)
      if ((options.value(row, column) ?? -1) > (options.value(row, best) ?? -1)) best = column;
    return best;
  };
  let most = 0;
  for (let row = 0; row < rows.length; ++row)
    for (let column = 0; column < columns.length; ++column) most = Math.max(most, options.value(row, column) ?? 0);
  const draw = () => {
    const theme = themeOf(box),
      width = box.clientWidth,
      room = width - left - right;
    bins = heatBins(columns.length, Math.min(kMostHeatColumns, room));
    wide = Math.min(options.square ? 56 : 40, room / Math.max(1, bins.length));
    high = isLong ? kLongHeatRow : Math.max(4, Math.min(options.square ? 32 : 24, 900 / rows.length));
    firstRow = isLong ? Math.min(rows.length - kMostHeatRows, Math.round(box.scrollTop / high)) : 0;
    const drawnRows = Math.min(rows.length, kMostHeatRows);
    const {context} = fitCanvas(canvas, width, top + drawnRows * high + 4),
      ramp = theme.forced ? theme.ink : kHeatColour;
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const every = Math.max(1, Math.ceil(44 / wide));
    context.fillStyle = theme.muted;
    for (let bin = 0; bin < bins.length; bin += every)
      context.fillText(columns[bins[bin][0]], left + bin * wide, 9, every * wide - 4);
    rows.slice(firstRow, firstRow + drawnRows).forEach((name, i) => {
      const row = firstRow + i,
        y = top + i * high;
      context.fillStyle = theme.ink;
      if (high >= 11 || row % Math.ceil(12 / high) === 0) context.fillText(name, 0, y + high / 2, left - 6);
      if (options.total && high >= 11)
        context.fillText(options.total(row), left + bins.length * wide + 8, y + high / 2, right - 8);
      bins.forEach((bin, place) => {
        const value = options.value(row, largestOf(row, bin)),
          x = left + place * wide;
        context.fillStyle =
          value === null
            ? theme.rule
            : value <= 0
              ? theme.paper
              : mixColour(theme.paper, ramp, 0.08 + (0.92 * value) / most);
        if (value === null) context.fillRect(x + wide / 2 - 1, y + high / 2 - 1, Math.min(2, wide), 2);
        else context.fillRect(x, y, Math.max(0.5, wide - (wide > 3 ? 1 : 0)), high - (high > 6 ? 1 : 0));
        if (options.square && wide > 34 && value) {
          context.fillStyle = value > 0.55 * most && !theme.forced ? '#ffffff' : theme.ink;
          context.fillText(fourDigits(value), x + 4, y + high / 2, wide - 6);
        }
      });
    });
    if (box === document.activeElement) {
      context.strokeStyle = theme.ink;
      context.lineWidth = 2;
      context.strokeRect(left + at[1] * wide - 1, top + (at[0] - firstRow) * high - 1, wide + 1, high + 1);
    }
  };
  const cellAt = (event) => {
    const row = event.offsetY < top ? -1 : firstRow + Math.floor((event.offsetY - top) / high),
      bin = Math.floor((event.offsetX - left) / wide);
    return row >= 0 && row < rows.length && bin >= 0 && bin < bins.length ? [row, bin] : null;
  };
  const tellCell = (/** @type {number[]} */ [row, bin]) => [row, largestOf(row, bins[bin])];
  box.addEventListener('pointermove', (event) => {
    const cell = cellAt(event),
      [row, column] = cell ? tellCell(cell) : [-1, -1];
    if (cell) showTip(event, ...options.tip(row, column));
    else hideTip();
  });
  box.addEventListener('pointerleave', hideTip);
  box.addEventListener('click', (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    at = cell;
    const [row, column] = tellCell(cell);
    options.onPick?.(row, column);
  });
  if (isLong) box.addEventListener('scroll', draw, {passive: true});
  box.addEventListener('focus', draw);
  box.addEventListener('blur', draw);
  box.addEventListener('keydown', (event) => {
    const by = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!by && event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    if (by)
      at = [
        Math.max(0, Math.min(rows.length - 1, at[0] + by[0])),
        Math.max(0, Math.min(bins.length - 1, at[1] + by[1])),
      ];
    if (isLong && (at[0] < firstRow || at[0] >= firstRow + kMostHeatRows - 1))
      box.scrollTop = (at[0] - (at[0] < firstRow ? 0 : kMostHeatRows - 2)) * high;
    const [row, column] = tellCell(at);
    if (by) say(options.tip(row, column).filter(Boolean).join(', '));
    else options.onPick?.(row, column);
    draw();
  });
  keepDrawn(box, draw);
  const scale = el(
    'div',
    {class: 'heat-scale'},
    '0',
    el('span', {class: 'heat-ramp'}),
    humanNumber(+most.toPrecision(4), options.unit),
  );
  return {element: el('div', {}, box, scale), most};
}

/** Collectives by when their first rank arrived. @param {any[][]} starts by rank @param {number} n @returns {number[]} */
export function byArrival(starts, n) {
  const first = Array.from({length: n}, (_, at) =>
    starts.reduce((least, of) => (typeof of[at] === 'number' && of[at] < least ? of[at] : least), Infinity),
  );
  return Array.from(first.keys()).sort((a, b) => (first[a] === first[b] ? a - b : first[a] - first[b]));
}

export const ranksView = {
  id: 'ranks',
  title: 'Collectives',
  key: '',
  /** @param {import('./data.js').Page} page */
  isThere: (page) => page.hasTable('nccl_implicit_sync') || page.hasTable('comm_verdict'),
  /** @param {import('./data.js').Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const [sync, straggler, verdicts, exchange, timeline] = await Promise.all(
      ['nccl_implicit_sync', 'straggler_summary', 'comm_verdict', 'nccl_all2allv_heatmap', 'rank_timeline'].map(
        (name) => page.table(name),
      ),
    );
    if (page.manifest.overview?.verdict) into.append(el('p', {class: 'says'}, page.manifest.overview.verdict));
    if (verdicts?.description.includes('corrected clocks'))
      into.append(el('p', {class: 'muted'}, 'Times are by corrected clocks.'));
    const ids = cellsOf(sync, 'collective_id'),
      groups = cellsOf(sync, 'Process Group Name'),
      names = cellsOf(sync, 'Collective name'),
      sizes = cellsOf(sync, 'Full msg size (MB)');
    const ranks = [
      ...new Set(
        (sync?.columns ?? [])
          .map((column) => Number(/^rank_(\d+)_ts$/.exec(column.name)?.[1] ?? -1))
          .filter((rank) => rank >= 0),
      ),
    ].sort((a, b) => a - b);
    const waits = ranks.map((rank) => cellsOf(sync, `rank_${rank}_wait_time`)),
      starts = ranks.map((rank) => cellsOf(sync, `rank_${rank}_ts`)),
      lengths = ranks.map((rank) => cellsOf(sync, `rank_${rank}_dur`));
    const latency = cellsOf(sync, 'comm_latency'),
      bandwidth = cellsOf(sync, 'bus bw (GB/s)');
    const inTime = byArrival(starts, ids.length);
    let group = state.get('group') ?? '',
      op = state.get('op') ?? '',
      colour = state.get('colour') ?? 'wait';
    const mapPlace = el('div', {}),
      onePlace = el('div', {}),
      label = (at) => `${visible(names[at])} ${humanNumber(+Number(sizes[at] ?? 0).toPrecision(3), 'MiB')}`;

    const showOne = (at) => {
      state.set({collective: ids[at]});
      const inIt = ranks.map((_, i) => i).filter((i) => typeof starts[i][at] === 'number'),
        last = Math.max(...inIt.map((i) => starts[i][at]));
      const latest = inIt.find((i) => starts[i][at] === last) ?? 0,
        from = Math.min(...inIt.map((i) => starts[i][at])) - last,
        to = Math.max(...inIt.map((i) => starts[i][at] + lengths[i][at])) - last;
      const box = el('div', {});
      const draw = () => {
        const theme = themeOf(box),
          high = Math.max(6, Math.min(22, 700 / inIt.length)),
          solid = theme.forced ? theme.ink : legible('#cc3366', theme.paper),
          pale = mixColour(solid, theme.paper, 0.72);
        const plot = plotOf(
          box.clientWidth,
          inIt.length * high + 60,
          {from: Math.min(from, -1), to: Math.max(to, 1) * 1.02, label: 'µs from the last arrival'},
          {
            from: inIt.length,
            to: 0,
            label: '',
            ticks: high >= 11 ? inIt.map((i, row) => ({value: row + 0.6, label: `rank ${ranks[i]}`})) : [],
          },
          `Collective ${ids[at]}, ${label(at)}: rank ${ranks[latest]} comes last, the first has waited ${humanNumber(-from, 'µs')} by then`,
        );
        inIt.forEach((i, row) => {
          const begin = plot.x(starts[i][at] - last),
            zero = plot.x(0),
            end = plot.x(starts[i][at] + lengths[i][at] - last),
            y = plot.y(row) + 2;
          const tell = (event) =>
            showTip(
              event,
              `rank ${ranks[i]}`,
              `waits ${humanNumber(last - starts[i][at], 'µs')}`,
              `whole kernel ${humanNumber(lengths[i][at], 'µs')}`,
            );
          plot.marks.append(
            svgEl(
              'g',
              {onpointermove: tell, onpointerleave: hideTip},
              svgEl('rect', {
                x: begin,
                y,
                width: Math.max(0, Math.min(zero, end) - begin),
                height: high - 4,
                style: {fill: pale},
              }),
              svgEl('rect', {x: zero, y, width: Math.max(1, end - zero), height: high - 4, style: {fill: solid}}),
            ),
          );
        });
        plot.marks.append(
          svgEl('line', {class: 'roof', x1: plot.x(0), x2: plot.x(0), y1: plot.top - 4, y2: plot.bottom}),
        );
        clear(box).append(plot.svg);
      };
      clear(onePlace).append(
        el('h3', {}, `Collective ${visible(ids[at])}: ${label(at)}, group ${visible(groups[at])}`),
        el('p', {class: 'muted'}, `Rank ${ranks[latest]} comes last. Pale: waiting for it; solid: communication.`),
        pictureWithTable(
          box,
          () =>
            pictureTable('collective', `Ranks of collective ${ids[at]}`, [
              ['rank', 'id', 1, inIt.map((i) => ranks[i])],
              ['arrives', 'µs', 2, inIt.map((i) => starts[i][at] - last)],
              ['waits', 'µs', 2, inIt.map((i) => waits[i][at])],
              ['duration', 'µs', 2, inIt.map((i) => lengths[i][at])],
            ]),
          'lanes',
        ),
      );
      keepDrawn(box, draw);
    };
    const showMap = () => {
      state.set({group, op, colour: colour === 'wait' ? null : colour});
      const shown = inTime.filter((at) => (!group || groups[at] === group) && (!op || names[at] === op));
      const unit = colour === 'bandwidth' ? 'GiB/s' : 'µs',
        values = (row, at) =>
          typeof starts[row][at] !== 'number'
            ? null
            : colour === 'wait'
              ? waits[row][at]
              : (colour === 'latency' ? latency : bandwidth)[at];
      const totals = ranks.map((_, row) => shown.reduce((sum, at) => sum + (waits[row][at] ?? 0), 0)),
        least = totals.indexOf(Math.min(...totals));
      const what = {wait: 'waiting time', latency: 'time of the transfer', bandwidth: 'bus bandwidth'}[colour] ?? '';
      const map = heatMap({
        label: `${what} of ${ranks.length} ranks in ${shown.length} collectives; rank ${ranks[least] ?? ''} waits least`,
        rows: ranks.map((rank) => `rank ${rank}`),
        columns: shown.map((at) => visible(ids[at])),
        unit,
        value: (row, column) => values(row, shown[column]),
        total: (row) => (colour === 'wait' ? `${(totals[row] / 1000).toFixed(2)} ms${row === least ? ' ◂' : ''}` : ''),
        onPick: (_, column) => showOne(shown[column]),
        tip: (row, column) => [
          `rank ${ranks[row]}, collective ${visible(ids[shown[column]])}`,
          label(shown[column]),
          values(row, shown[column]) === null
            ? 'not in its group'
            : `${what} ${humanNumber(values(row, shown[column]), unit)}`,
        ],
      });
      clear(mapPlace).append(
        pictureWithTable(
          map.element,
          () => {
            const flat = shown
              .flatMap((at) => ranks.map((rank, row) => ({at, rank, row})))
              .filter(({at, row}) => typeof starts[row][at] === 'number');
            return pictureTable('waiting', `${what} by rank and collective`, [
              ['collective_id', '', 0, flat.map(({at}) => ids[at])],
              ['collective', '', 0, flat.map(({at}) => names[at])],
              ['rank', 'id', 1, flat.map(({rank}) => rank)],
              [what, unit, 2, flat.map(({at, row}) => values(row, at))],
            ]);
          },
          'heat map',
        ),
      );
    };
    const options = (values) =>
      /** @type {[string, string][]} */ ([
        ['', 'all'],
        ...[...new Set(values)].map((value) => [value, visible(value)]),
      ]);
    if (sync && ids.length && ranks.length) {
      into.append(
        el('h2', {}, 'Who waits, and when'),
        el(
          'div',
          {class: 'toolbar'},
          choice('Group', options(groups), group, (value) => {
            group = value;
            showMap();
          }),
          choice('Collective', options(names), op, (value) => {
            op = value;
            showMap();
          }),
          choice(
            'Colour',
            [
              ['wait', 'waiting'],
              ['latency', 'transfer time'],
              ['bandwidth', 'bandwidth'],
            ],
            colour,
            (value) => {
              colour = value;
              showMap();
            },
          ),
        ),
        mapPlace,
        onePlace,
      );
      showMap();
      const asked = ids.indexOf(state.get('collective') ?? '');
      showOne(
        asked >= 0
          ? asked
          : Array.from(ids.keys()).reduce((best, at) => (latencyOf(at) > latencyOf(best) ? at : best), 0),
      );
    }
    function latencyOf(at) {
      return cellsOf(sync, 'skew in start time')[at] ?? 0;
    }
    const pair = el('div', {class: 'pair'});
    into.append(pair);
    if (exchange?.rows) {
      const from = cellsOf(exchange, 'src_rank'),
        to = cellsOf(exchange, 'dst_rank'),
        sent = cellsOf(exchange, 'total_sent_MB'),
        all = [...new Set([...from, ...to])].sort((a, b) => a - b);
      /** @type {Map<string, number>} */
      const by = new Map(from.map((rank, i) => [`${rank} ${to[i]}`, sent[i]]));
      const value = (row, column) => by.get(`${all[row]} ${all[column]}`) ?? null;
      const map = heatMap({
        label: `All-to-all: what ${all.length} ranks send each other, MiB`,
        rows: all.map((rank) => `rank ${rank}`),
        columns: all.map((rank) => `to ${rank}`),
        value,
        unit: 'MiB',
        square: true,
        tip: (row, column) => [
          `rank ${all[row]} to rank ${all[column]}`,
          value(row, column) === null ? 'nothing' : humanNumber(value(row, column), 'MiB'),
        ],
      });
      pair.append(
        el(
          'section',
          {},
          el('h2', {}, 'All-to-all: who sends to whom'),
          pictureWithTable(map.element, () => exchange, 'matrix'),
        ),
      );
    }
    const points = Array.from(ids.keys()).filter((at) => sizes[at] > 0 && bandwidth[at] > 0);
    if (points.length) {
      const kinds = [...new Set(points.map((at) => names[at]))],
        box = el('div', {}),
        [low, high] = extentOf(
          points.map((at) => sizes[at]),
          true,
        );
      const best = points.reduce((a, b) => (bandwidth[b] > bandwidth[a] ? b : a));
      pair.append(
        el(
          'section',
          {},
          el('h2', {}, 'Bandwidth by message size'),
          pictureWithTable(
            box,
            () =>
              pictureTable('bandwidth', 'Bandwidth of each collective', [
                ['collective_id', '', 0, points.map((at) => ids[at])],
                ['collective', '', 0, points.map((at) => names[at])],
                ['size', 'MiB', 2, points.map((at) => sizes[at])],
                ['bus bandwidth', 'GiB/s', 2, points.map((at) => bandwidth[at])],
              ]),
            'plot',
          ),
          el(
            'ul',
            {class: 'legend'},
            kinds.map((kind, i) =>
              el(
                'li',
                {},
                el('span', {class: 'swatch', style: {backgroundColor: kPlotColours[i % 10]}}),
                visible(kind),
              ),
            ),
          ),
        ),
      );
      keepDrawn(box, () => {
        const theme = themeOf(box),
          plot = plotOf(
            box.clientWidth,
            280,
            {from: low, to: high, log: true, label: 'message, MiB'},
            {from: 0, to: extentOf(points.map((at) => bandwidth[at]))[1], label: 'bus bandwidth, GiB/s'},
            `Bandwidth by message size: at most ${fourDigits(bandwidth[best])} GiB/s, of ${label(best)}`,
          );
        for (const at of points) {
          plot.marks.append(
            svgEl('circle', {
              class: 'point',
              cx: plot.x(sizes[at]),
              cy: plot.y(bandwidth[at]),
              r: 5,
              style: {
                fill: theme.forced ? theme.ink : legible(kPlotColours[kinds.indexOf(names[at]) % 10], theme.paper),
              },
              onpointermove: (event) =>
                showTip(
                  event,
                  `${visible(ids[at])}: ${label(at)}`,
                  `${fourDigits(bandwidth[at])} GiB/s in ${humanNumber(latency[at], 'µs')}`,
                ),
              onpointerleave: hideTip,
              onclick: () => showOne(at),
            }),
          );
        }
        clear(box).append(plot.svg);
      });
    }
    appendTables(into, [
      [verdicts, 'Why, by group and collective'],
      [straggler, 'Who comes last'],
      [timeline, 'What each rank did'],
    ]);
    if (straggler?.rows) {
      const shares = cellsOf(straggler, 'pct_arrived_last');
      const at = shares.indexOf(Math.max(...shares));
      say(
        `Rank ${cellsOf(straggler, 'rank')[at]} comes last to ${percent(shares[at])} of all collectives, the most of all`,
      );
    }
  },
  leave: hideTip,
};
