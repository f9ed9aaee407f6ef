// overview_runs.js: what the overview of a comparison shows: the runs in figures, their time on one scale, what changed most.
import {el, traceText} from './dom.js';
import {cellsOf} from './picture.js';
import {hashOf} from './route.js';
import {changeOf, changePercent, comparedRuns, signed} from './runs.js';
import {count, fixed} from './text.js';

const kMostChanges = 6;
// Of gpu_timeline: what adds up to the whole, its name here and its colour.
const kTimeParts = [
  ['computation_time', 'computing', 'compute'],
  ['exposed_comm_time', 'exposed communication', 'comm'],
  ['exposed_memcpy_time', 'exposed copy', 'copy'],
  ['idle_time', 'idle', 'idle'],
];

// The second run in figures, each with what it was in the first.
/** @param {import('./runs.js').ComparedRuns} runs */
function changeFigures({times, labels}) {
  const figures = [['total_time', 'first to last GPU event'], ...kTimeParts]
    .map(([type, label]) => ({label, values: times(type)}))
    .filter(({values}) => values.every((value) => value !== null) && values.some((value) => Number(value) >= 0.005));
  return el(
    'div',
    {class: 'figures'},
    figures.map(({label, values}) => {
      const [base, value] = /** @type {number[]} */ (values),
        isMuch = Math.abs(value - base) >= 0.005 * Math.max(base, value);
      return el(
        'a',
        {
          class: 'figure',
          href: '#diff',
          title: `${labels[0]}: ${fixed(base, 3)} ms; ${labels[1]}: ${fixed(value, 3)} ms`,
        },
        el('span', {class: 'figure-value'}, fixed(value, 2), el('span', {class: 'figure-unit'}, ' ms')),
        el('span', {class: 'figure-label'}, label),
        el(
          'span',
          {class: 'figure-label'},
          `${fixed(base, 2)} in ${labels[0]} `,
          el(
            'b',
            {class: !isMuch || label === 'idle' ? 'same' : value > base ? 'worse' : 'better'},
            changePercent(value, base),
          ),
        ),
      );
    }),
  );
}

/** Room for the names in front of bars and strips. @param {string[]} labels */
export function labelWidth(labels) {
  return `${Math.max(6, Math.min(24, Math.max(...labels.map((label) => label.length))))}ch`;
}

// The time of each run as a bar, all on one scale.
/** @param {import('./runs.js').ComparedRuns} runs */
function runBars({times, labels}) {
  const totals = times('total_time'),
    longest = Math.max(...totals.map((value) => value ?? 0)),
    parts = kTimeParts
      .map(([type, name, kind]) => ({name, kind, ms: times(type)}))
      .filter(({ms}) => ms.some((value) => Number(value) > 0));
  if (!(longest > 0) || !parts.length) return null;
  return el(
    'section',
    {'aria-label': 'Time of the GPU', style: {'--label': labelWidth(labels)}},
    el('h2', {}, 'Where the time goes'),
    labels.map((label, run) =>
      el(
        'div',
        {class: 'run-bar'},
        el('span', {class: 'strip-label', dir: 'ltr', title: label}, label),
        el(
          'div',
          {
            class: 'bar',
            role: 'img',
            'aria-label': `${label}: ${parts.map(({name, ms}) => `${name} ${fixed(ms[run] ?? 0, 2)} ms`).join(', ')}`,
            style: {width: `${(100 * (totals[run] ?? 0)) / longest}%`},
          },
          parts
            .filter(({ms}) => Number(ms[run]) > 0)
            .map(({name, kind, ms}) =>
              el('span', {
                class: 'fill-' + kind,
                title: `${name}: ${fixed(ms[run] ?? 0, 3)} ms`,
                style: {flexGrow: ms[run]},
              }),
            ),
        ),
        el(
          'span',
          {class: 'run-total number'},
          totals[run] === null ? '' : `${fixed(totals[run] ?? 0, 2)} ms`,
          run ? el('span', {class: 'muted'}, ' ' + changePercent(totals[run] ?? 0, totals[0] ?? 0)) : null,
        ),
      ),
    ),
    el(
      'ul',
      {class: 'legend'},
      parts.map(({name, kind}) => el('li', {}, el('i', {class: 'swatch fill-' + kind, 'aria-hidden': 'true'}), name)),
    ),
  );
}

/** @param {number | null} ms */
function msText(ms) {
  return ms ? fixed(ms, 3) : '–';
}

// Both times below the name, where there is no room for columns.
/** @param {(number | null)[]} times */
function narrowTimes(times) {
  return el('div', {class: 'muted small narrow-only'}, times.map(msText).join(' → ') + ' ms');
}

// Ops that changed one way, the largest change first.
/** @param {string} title @param {import('./runs.js').ChangeRow[]} rows @param {import('./runs.js').ComparedRuns} runs @param {number} most change of all @param {string} table */
function changeList(title, rows, {labels}, most, table) {
  return el(
    'section',
    {'aria-label': title},
    el(
      'table',
      {class: 'costs'},
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {scope: 'col'}, el('h2', {}, title)),
          labels.map((name) => el('th', {scope: 'col', class: 'number wide-only'}, `${name}, ms`)),
          el('th', {scope: 'col', class: 'number'}, 'change, ms'),
        ),
      ),
      el(
        'tbody',
        {},
        rows.slice(0, kMostChanges).map((row) =>
          el(
            'tr',
            {},
            el(
              'td',
              {},
              el('a', {href: hashOf('table', table, [['f', row.name]])}, traceText(row.name, 44)),
              !row.times[0] && el('div', {class: 'muted small'}, `only in ${labels[1]}`),
              !row.times[1] && el('div', {class: 'muted small'}, `only in ${labels[0]}`),
              narrowTimes(row.times),
              el('div', {
                class: `cost-bar ${changeOf(row) > 0 ? 'worse' : 'better'}`,
                style: {width: `${(100 * Math.abs(changeOf(row))) / most}%`},
              }),
            ),
            row.times.map((value) => el('td', {class: 'number wide-only'}, msText(value))),
            el('td', {class: 'number'}, signed(changeOf(row))),
          ),
        ),
      ),
    ),
    !rows.length && el('p', {class: 'muted'}, 'Nothing, beyond noise.'),
  );
}

// Kernels or ops that do the work of others now.
/** @param {import('./data.js').Page} page @param {import('./runs.js').ComparedRuns} runs */
async function exchangeList(page, {labels}) {
  const table = await page.table('substitutions'),
    cells = (column) => cellsOf(table, column);
  if (!table?.rows) return null;
  const timesOf = (row) => ['time_trace1', 'time_trace2'].map((column) => (cells(column)[row] ?? 0) / 1000);
  return el(
    'section',
    {'aria-label': 'What took the place of what'},
    el(
      'table',
      {class: 'costs exchanges'},
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {scope: 'col'}, el('h2', {}, 'What took the place of what')),
          labels.map((name) => el('th', {scope: 'col', class: 'number wide-only'}, `${name}, ms`)),
          el('th', {scope: 'col', class: 'number'}, 'change, ms'),
        ),
      ),
      el(
        'tbody',
        {},
        Array.from({length: Math.min(kMostChanges, table.rows)}, (_, row) =>
          el(
            'tr',
            {},
            el(
              'td',
              {},
              el(
                'a',
                {href: hashOf('table', 'substitutions', [['row', table.key(row)]])},
                traceText(cells('where')[row] ?? '', 60),
              ),
              el('span', {class: 'muted'}, ` ${count(cells('count')[row] ?? 1)} times`),
              el('div', {class: 'small'}, traceText(cells('trace1')[row] || 'nothing', 72)),
              el('div', {class: 'small'}, '→ ', traceText(cells('trace2')[row] || 'nothing', 72)),
              narrowTimes(timesOf(row)),
            ),
            timesOf(row).map((value) => el('td', {class: 'number wide-only'}, msText(value))),
            el('td', {class: 'number'}, signed((cells('diff')[row] ?? 0) / 1000)),
          ),
        ),
      ),
    ),
    table.rows > kMostChanges &&
      el('p', {}, el('a', {href: hashOf('table', 'substitutions')}, `All ${count(table.rows)}`)),
  );
}

/** The parts of the overview of a comparison, in order. @param {import('./data.js').Page} page @param {any} overview @param {any} strip the runs over time @returns {Promise<any[]>} */
export async function comparisonParts(page, overview, strip) {
  const runs = await comparedRuns(page),
    isPair = runs.names.length === 2,
    table = runs.whole?.name ?? '',
    real = runs.changes.filter((row) => row.verdict !== 'noise' && Math.abs(changeOf(row)) >= 0.0005),
    most = Math.max(1e-9, ...real.map((row) => Math.abs(changeOf(row))));
  const list = (title, sign) =>
    changeList(
      title,
      real.filter((row) => sign * changeOf(row) > 0),
      runs,
      most,
      table,
    );
  const words = overview?.advice ?? [];
  return [
    isPair && runs.timeline && changeFigures(runs),
    runBars(runs),
    strip,
    isPair && runs.changes.length > 0 && el('div', {class: 'two-columns'}, list('Slower', 1), list('Faster', -1)),
    await exchangeList(page, runs),
    words.length > 0 &&
      el(
        'section',
        {'aria-label': 'In words'},
        el('h2', {}, 'In words'),
        words.map((text) => el('p', {class: 'in-words'}, traceText(text))),
      ),
    el(
      'p',
      {class: 'buttons'},
      el('a', {class: 'button', href: '#diff'}, 'All changes by op'),
      page.manifest.nodes_blob >= 0 &&
        isPair &&
        el('a', {class: 'button', href: '#tree?colour=change'}, 'Modules, coloured by change'),
    ),
  ].filter(Boolean);
}
