// view_kernels.js: kernels, and how their durations and launch latencies are spread.
import {el, svgEl, button} from './dom.js';
import {time, count, percent, workName} from './text.js';
import {tableOf} from './data.js';
import {dataTable, pictureWithTable} from './table.js';
import {hashOf} from './route.js';

/** @typedef {import('./data.js').Page} Page @typedef {[number, number, number, number]} Bin from, to, count, total */

const kKernelTables = ['kernel_summary', 'kernel_launchers_summary', 'hip_summary', 'short_kernels_summary'];
// Column of a table, and its name here.
const kKernelLabels = {
  'Kernel name': 'kernel',
  name: 'kernel',
  Name: 'kernel',
  'Parent cpu_op': 'op',
  'Parent op category': 'category',
  Category: 'category',
  kernel_category: 'category',
  'Kernel duration (µs)_count': 'count',
  Count: 'count',
  'Kernel duration (µs)_sum': 'sum µs',
  'Total Kernel Time (ms)': 'sum ms',
  'Kernel duration (µs)_mean': 'mean µs',
  'Mean Kernel Time (µs)': 'mean µs',
  'Kernel duration (µs)_min': 'min µs',
  'Min Kernel Time (µs)': 'min µs',
  'Kernel duration (µs)_max': 'max µs',
  'Max Kernel Time (µs)': 'max µs',
  'Percent of kernels time (%)': '%',
  'Percentage (%)': '%',
};

// Bars on a logarithmic axis; dragging, or the arrow keys, select bins.
/** @param {{name: string, bins: Bin[]}} histogram @param {((from: number, to: number) => void) | null} onSelect 0, 0: all */
function histogramPicture({name, bins}, onSelect) {
  const isLatency = name === 'launch latency'; // its sum means nothing: work waits for the work before it
  let isTime = false,
    from = -1,
    to = -1;
  const n = bins.length,
    svg = svgEl('svg', {viewBox: `0 0 ${n} 100`, preserveAspectRatio: 'none', role: 'img'}),
    text = el('span', {class: 'muted', role: 'status'});
  const field = el(
    'div',
    {
      class: 'histogram',
      tabindex: '0',
      role: 'group',
      'aria-label': `${name}: arrow keys select, Shift extends, Escape clears`,
    },
    svg,
  );
  const draw = () => {
    const most = Math.max(1, ...bins.map((bin) => bin[isTime ? 3 : 2])),
      isIn = (i) => from < 0 || (i >= from && i <= to);
    const [least, far] = from < 0 ? [0, n - 1] : [from, to];
    let events = 0,
      total = 0;
    for (let i = least; i <= far; ++i) {
      events += bins[i][2];
      total += bins[i][3];
    }
    svg.replaceChildren(
      ...bins.map((bin, i) =>
        svgEl(
          'rect',
          {
            x: i + 0.06,
            width: 0.88,
            y: 100 - (bin[isTime ? 3 : 2] / most) * 100,
            height: (bin[isTime ? 3 : 2] / most) * 100,
            class: isIn(i) ? null : 'out',
          },
          svgEl('title', {}, `${time(bin[0])} to ${time(bin[1])}: ${count(bin[2])}, ${time(bin[3])}`),
        ),
      ),
    );
    text.textContent = `${time(bins[least][0])} to ${time(bins[far][1])}: ${count(events)}${isLatency ? '' : `, ${time(total)} together`}`;
    svg.setAttribute('aria-label', `${name}: ${text.textContent}`);
  };
  const select = (a, b) => {
    (from = a < 0 ? -1 : Math.min(a, b)), (to = a < 0 ? -1 : Math.max(a, b));
    draw();
    onSelect?.(from < 0 ? 0 : bins[from][0], from < 0 ? 0 : bins[to][1]);
  };
  let start = -1;
  const binAt = (event) => {
    const box = svg.getBoundingClientRect();
    return Math.max(0, Math.min(n - 1, Math.floor(((event.clientX - box.left) / box.width) * n)));
  };
  field.addEventListener('pointerdown', (event) => {
    start = binAt(event);
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener('pointermove', (event) => {
    if (start >= 0 && binAt(event) !== start) select(start, binAt(event));
  });
  field.addEventListener('pointerup', (event) => {
    if (start >= 0 && binAt(event) === start) select(from === start && to === start ? -1 : start, start);
    start = -1;
  });
  field.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step && from < 0) select(step > 0 ? 0 : n - 1, step > 0 ? 0 : n - 1);
    else if (step) {
      const edge = Math.max(0, Math.min(n - 1, (step > 0 ? to : from) + step));
      select(event.shiftKey ? (step > 0 ? from : edge) : edge, event.shiftKey && step < 0 ? to : edge);
    } else if (event.key === 'Escape' && from >= 0) select(-1, -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const first = Math.log10(Math.max(1, bins[0][0])),
    last = Math.log10(Math.max(10, bins[n - 1][1])),
    ticks = [];
  for (let power = Math.ceil(first - 0.01); power <= last + 0.01; ++power) {
    const share = (power - first) / (last - first);
    ticks.push(
      el(
        'span',
        {style: {left: share * 100 + '%', transform: share > 0.9 ? 'translateX(-100%)' : ''}},
        time(10 ** power, 1),
      ),
    ); // the last one stays inside
  }
  const swap = button(
    'by time',
    () => {
      isTime = !isTime;
      swap.setAttribute('aria-pressed', String(isTime));
      draw();
    },
    {'aria-pressed': 'false', title: 'Bars by time instead of count'},
  );
  draw();
  const asTable = () =>
    tableOf({
      name,
      columns: ['from', 'to', 'count', 'time'].map((column, i) => ({
        name: column,
        unit: i === 2 ? '' : i === 3 ? 'ms' : 'µs',
        description: '',
        kind: i === 2 ? 1 : 2,
        values: bins.map((bin) => (i === 2 ? bin[2] : bin[i] / (i === 3 ? 1e6 : 1e3))),
      })),
    });
  return el(
    'section',
    {'aria-label': name},
    el(
      'div',
      {class: 'histogram-head'},
      el('h2', {}, isLatency ? 'Launch to start, waiting included' : name[0].toUpperCase() + name.slice(1)),
      text,
      isLatency ? null : swap,
    ),
    pictureWithTable(
      el('div', {}, field, el('div', {class: 'ticks', 'aria-hidden': 'true'}, ticks)),
      asTable,
      'histogram',
    ),
  );
}

// Work that no call in the trace launched stands here, and not in the figures of the overview.
/** @param {Page} page @param {import('./data.js').TableData | null} kernels */
async function unlinkedNote(page, kernels) {
  const timeline = await page.table('gpu_timeline'),
    busy = timeline?.column('time ms')?.values[timeline.column('type')?.values.indexOf('busy_time') ?? -1],
    ops = kernels?.column('Parent cpu_op')?.values ?? [],
    times = kernels?.column('Kernel duration (µs)_sum')?.values ?? [];
  const without = ops.reduce((sum, op, row) => sum + (op ? 0 : times[row]), 0),
    all = times.reduce((sum, us) => sum + us, 0);
  return typeof busy === 'number' && without > 0 && all > 1010 * busy
    ? `${time(without * 1e3)} (${percent((100 * without) / all)}) were launched by no call in the trace, most likely before recording began. They are counted here, and not in the figures of the overview (busy ${time(busy * 1e6)}).`
    : '';
}

export const kernelsView = {
  id: 'kernels',
  title: 'Kernels',
  isThere: (page) =>
    page.manifest.verb !== 'compare' &&
    (page.manifest.histograms.length > 0 || kKernelTables.some((name) => page.hasTable(name))),
  /** @param {Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const name = kKernelTables.find((table) => page.hasTable(table)),
      data = name ? await page.table(name) : null;
    const least = data?.column('Kernel duration (µs)_min') ?? data?.column('Min Kernel Time (µs)'),
      most = data?.column('Kernel duration (µs)_max') ?? data?.column('Max Kernel Time (µs)');
    // The category of the op where there is one, as in the other views; else what the kernel's name tells.
    const ofOps = data?.column('Parent op category'),
      hasOps = ofOps?.values.some((value) => value && value !== 'runtime'),
      ofNames = data?.column('kernel_category')?.values ?? [],
      left = hasOps ? 'kernel_category' : 'Parent op category';
    const shown = data ? Object.keys(kKernelLabels).filter((column) => column !== left && data.column(column)) : [];
    const category = (value, row) => workName(value || ofNames[row] || '');
    const table =
      data &&
      dataTable({
        table: data,
        isKept: true,
        shown: shown.length > 3 ? shown : data.first,
        labels: kKernelLabels,
        cell: {'Parent op category': category, kernel_category: category, Category: category},
        tools: [
          page.hasTable('short_kernels_summary') &&
            el('a', {class: 'button', href: '#table/short_kernels_summary'}, 'Short kernels'),
        ],
      });
    const histograms = page.manifest.histograms.filter((histogram) => histogram.bins?.length);
    into.append(
      el(
        'div',
        {class: 'histograms'},
        histograms.map((histogram) => {
          const isDuration = /duration/.test(histogram.name);
          // A row stands for many runs: it stays when its shortest to longest run meets the selection.
          const narrow = (from, to) =>
            table?.narrow(
              to && least && most
                ? (row) => (most.values[row] ?? 0) * 1e3 >= from && (least.values[row] ?? 0) * 1e3 < to
                : null,
            );
          return histogramPicture(histogram, isDuration && table && least && most ? narrow : null);
        }),
      ),
    );
    if (histograms.length) {
      const bins = histograms[0].bins,
        sum = (some, i) => some.reduce((total, bin) => total + bin[i], 0),
        short = bins.filter((bin) => bin[1] <= 10001);
      into.append(
        el(
          'p',
          {class: 'caption'},
          `Shorter than 10 µs: ${count(sum(short, 2))} of ${count(sum(bins, 2))}, ${percent((sum(short, 3) / Math.max(1, sum(bins, 3))) * 100)} of the time. Drag over the durations to see which kernels those are.`,
        ),
      );
    }
    const unlinked = await unlinkedNote(page, data);
    if (unlinked) into.append(el('p', {class: 'caption'}, unlinked));
    if (table) into.append(table);
    else
      into.append(el('p', {}, 'The report has no table of kernels. ', el('a', {href: hashOf('table')}, 'All tables')));
  },
};
