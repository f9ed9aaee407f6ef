// view_memory.js: memory of each device over the run, its peak, and who owned it.
import {plotOf, timeTicks} from './axes.js';
import {clear, el, svgEl} from './dom.js';
import {hitLane, laneRows} from './lanes.js';
import {appendTables, cellsOf, hideTip, keepDrawn, pictureTable, showTip, themeOf} from './picture.js';
import {go, hashOf} from './route.js';
import {dataTable, pictureWithTable} from './table.js';
import {bytes, percent, shortName, time, visible} from './text.js';

/** The last row at or before a moment; rows stand by time. @param {number[]} times @param {number} moment */
export function rowBefore(times, moment) {
  let from = 0,
    to = times.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (times[middle] <= moment) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

/** Corners of a curve that keeps a value until the next. @param {number[]} xs @param {number[]} ys */
export function stepPath(xs, ys) {
  let path = '';
  for (let i = 0; i < xs.length; ++i)
    path += i ? `H${xs[i].toFixed(1)}V${ys[i].toFixed(1)}` : `M${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
  return path;
}

export const memoryView = {
  id: 'memory',
  title: 'Memory',
  key: '',
  /** @param {import('./data.js').Page} page */
  isThere: (page) => page.hasTable('memory_timeline') || page.hasTable('memory_summary'),
  /** @param {import('./data.js').Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const [summary, curve, peak, churn] = await Promise.all(
        ['memory_summary', 'memory_timeline', 'memory_peak', 'memory_churn'].map((name) => page.table(name)),
      ),
      texts = await page.texts();
    /** @type {any[]} */
    const metas = page.manifest.lanes;
    /** @type {any[]} */
    const lanes = (
      await Promise.all(metas.map((meta, i) => (meta.kind === 'steps' || meta.kind === 'ops' ? page.lane(i) : null)))
    ).filter(Boolean);
    const steps = lanes.find((lane) => lane.meta.kind === 'steps'),
      span = Math.max(1, page.manifest.span_ns);
    const devices = cellsOf(summary, 'device').length
      ? cellsOf(summary, 'device')
      : [...new Set(cellsOf(curve, 'device'))];
    devices.forEach((device, i) => {
      const of = (name) => cellsOf(summary, name)[i] ?? null,
        most = of('peak_allocated_mb'),
        at = of('peak_at_ms');
      const rows = cellsOf(curve, 'device')
        .map((one, row) => (one === device ? row : -1))
        .filter((row) => row >= 0);
      if (rows.length < 2 && !(most > 0)) return;
      const open =
        at === null
          ? null
          : lanes
              .filter((lane) => lane.meta.kind === 'ops')
              .map((lane) => hitLane(lane, 0, at * 1e6, 0))
              .find((hit) => hit && !hit.isRun);
      const reserved = of('peak_reserved_mb');
      into.append(
        el('h2', {}, visible(device)),
        el(
          'p',
          {class: 'says'},
          `Peak ${bytes(most * 1e6)} allocated`,
          at === null ? '' : ` at ${time(at * 1e6, 4)}`,
          of('step') ? ` in ${visible(of('step'))}` : '',
          open ? `, while ${visible(shortName(texts[open.lane.name[open.place]], 60))} ran` : '',
          '.',
          el(
            'span',
            {class: 'muted'},
            reserved === null ? '' : ` Reserved: ${bytes(reserved * 1e6)}.`,
            of('capacity_mb')
              ? ` The device has ${bytes(of('capacity_mb') * 1e6)}: ${percent(of('peak_pct_of_capacity'))} in use.`
              : '',
          ),
        ),
      );
      if (rows.length < 2 || (most < 0.1 && devices.length > 1)) return;
      const times = rows.map((row) => cellsOf(curve, 'ts_ms')[row] * 1e6),
        allocated = rows.map((row) => cellsOf(curve, 'allocated_mb')[row]),
        held = rows.map((row) => cellsOf(curve, 'reserved_mb')[row]);
      const box = el('div', {class: 'memory-box'}),
        hasBands = steps && laneRows(steps)[0].to > 1,
        top = Math.max(...allocated, ...held.map((value) => value ?? 0), most ?? 0) * 1.1 || 1;
      const draw = () => {
        const width = box.clientWidth,
          end = Math.max(span, times[times.length - 1]);
        const plot = plotOf(
          width,
          300,
          {from: 0, to: end, label: '', ticks: timeTicks(0, end, width / 110)},
          {from: 0, to: top, label: 'MB'},
          `Memory of ${visible(device)}: peak ${bytes(most * 1e6)} at ${time((at ?? 0) * 1e6, 4)}`,
        );
        const {x, y, marks} = plot,
          theme = themeOf(box);
        if (hasBands) {
          for (let step = 0; step < laneRows(steps)[0].to; step += 2)
            marks.append(
              svgEl('rect', {
                class: 'band',
                x: x(steps.start[step]),
                y: plot.top,
                width: Math.max(0, x(steps.start[step] + steps.duration[step]) - x(steps.start[step])),
                height: plot.bottom - plot.top,
              }),
            );
        }
        const xs = times.map(x),
          ys = allocated.map(y),
          line = stepPath(xs, ys);
        marks.append(
          svgEl('path', {class: 'memory-area', d: `${line}V${plot.bottom}H${xs[0]}Z`}),
          svgEl('path', {class: 'memory-line', d: line}),
        );
        if (held.some((value) => value !== null))
          marks.append(
            svgEl('path', {
              class: 'memory-held',
              d: stepPath(
                xs,
                held.map((value) => y(value ?? 0)),
              ),
            }),
          );
        if (at !== null && most !== null) {
          const px = x(at * 1e6),
            py = y(most),
            isRight = px > width * 0.7;
          marks.append(
            svgEl('circle', {cx: px, cy: py, r: 4, style: {fill: theme.ink}}),
            svgEl(
              'text',
              {class: 'point-name', x: px + (isRight ? -8 : 8), y: py - 6, 'text-anchor': isRight ? 'end' : 'start'},
              `peak ${bytes(most * 1e6)}`,
            ),
          );
        }
        const moment = (event) => ((event.offsetX - plot.left) / (plot.right - plot.left)) * end;
        plot.svg.addEventListener('pointermove', (event) => {
          const row = rowBefore(times, moment(event));
          if (row < 0) return hideTip();
          showTip(
            event,
            `${bytes(allocated[row] * 1e6)} allocated`,
            held[row] === null ? null : `${bytes(held[row] * 1e6)} reserved`,
            time(times[row], 4),
          );
        });
        plot.svg.addEventListener('pointerleave', hideTip);
        if (metas.length)
          plot.svg.addEventListener('click', (event) =>
            go(
              hashOf('timeline', '', [
                [
                  't',
                  `${Math.max(0, Math.round(moment(event) - span / 100))}-${Math.round(moment(event) + span / 100)}`,
                ],
              ]),
            ),
          );
        clear(box).append(plot.svg);
      };
      into.append(
        pictureWithTable(
          box,
          () =>
            pictureTable('memory', `Memory of ${device} over time`, [
              ['time', 'ms', 2, times.map((ns) => ns / 1e6)],
              ['allocated', 'MB', 2, allocated],
              ['reserved', 'MB', 2, held],
            ]),
          'curve',
        ),
        el(
          'ul',
          {class: 'legend'},
          el('li', {}, el('span', {class: 'swatch memory-swatch'}), 'allocated'),
          el('li', {}, el('span', {class: 'swatch memory-held-swatch'}), 'reserved'),
          hasBands ? el('li', {}, el('span', {class: 'swatch band-swatch'}), 'every other step') : null,
        ),
      );
      keepDrawn(box, draw);
    });
    if (!curve)
      into.append(
        el(
          'p',
          {class: 'muted'},
          'The curve over time, and who owned the memory, come with `tracelens report --memory`.',
        ),
      );
    if (peak?.rows)
      into.append(
        el('h2', {}, 'In use at the peak'),
        dataTable({
          table: peak,
          shown: ['category', 'op', 'module', 'bytes', 'pct_of_peak', 'count', 'line', 'device'],
          labels: {bytes: 'size', pct_of_peak: '% of peak', count: 'blocks'},
          cell: {bytes: (value) => (value === null ? '' : bytes(value))},
        }),
      );
    appendTables(into, [
      [churn, 'Who asked for memory'],
      [summary, 'All devices'],
    ]);
  },
  leave: hideTip,
};
