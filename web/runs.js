// runs.js: the runs of a comparison: how they are called, how long each took, and what changed by op.
import {cellsOf} from './picture.js';
import {fixed, shortName, visible} from './text.js';

/** @typedef {{name: string, times: (number | null)[], verdict: string}} ChangeRow times in ms
 * @typedef {{names: string[], labels: string[], timeline: import('./data.js').TableData | null, times: (type: string) => (number | null)[], changes: ChangeRow[], whole: import('./data.js').TableData | null}} ComparedRuns */

/** Rows of one name as one: their sums, and a verdict where they agree. The largest change first. @param {ChangeRow[]} rows @returns {ChangeRow[]} */
export function sumByName(rows) {
  /** @type {Map<string, ChangeRow>} */
  const sums = new Map();
  for (const row of rows) {
    const sum = sums.get(row.name);
    if (!sum) sums.set(row.name, {...row, times: [...row.times]});
    else {
      row.times.forEach((value, i) => {
        if (value !== null) sum.times[i] = (sum.times[i] ?? 0) + value;
      });
      if (sum.verdict !== row.verdict) sum.verdict = 'mixed';
    }
  }
  return [...sums.values()].sort((a, b) => largestChange(b) - largestChange(a));
}

/** @param {ChangeRow} row */
function largestChange(row) {
  return Math.max(...row.times.slice(1).map((value) => Math.abs((value ?? 0) - (row.times[0] ?? 0))));
}

/** Of the second run against the first. @param {ChangeRow} row */
export function changeOf(row) {
  return (row.times[1] ?? 0) - (row.times[0] ?? 0);
}

/** "+1.995" @param {number | null} value @param {number} decimals */
export function signed(value, decimals = 3) {
  return value === null ? '' : (value > 0 ? '+' : '') + fixed(value, decimals);
}

/** "+4.8 %" @param {number} value @param {number} base */
export function changePercent(value, base) {
  return base ? signed((100 * (value - base)) / base, 1) + ' %' : '';
}

/** @param {import('./data.js').Page} page @returns {Promise<ComparedRuns>} */
export async function comparedRuns(page) {
  const {manifest} = page,
    [ops, timeline, summary] = await Promise.all(
      ['ops_diff', 'gpu_timeline', 'ops_summary'].map((name) => page.table(name)),
    );
  // What stands before the columns of each run; the lanes may call it by its file.
  const tags = ((timeline ?? summary)?.columns ?? [])
    .map(({name}) => /^(.*)::(total_direct_kernel_time_ms|time ms)$/.exec(name)?.[1] ?? '')
    .filter(Boolean);
  /** @type {string[]} */
  let names = manifest.groups;
  if (names.length < 2) names = tags;
  if (names.length < 2) names = manifest.source.flatMap((source) => source.split(', '));
  if (names.length < 2) names = ['base', 'new'];
  const types = cellsOf(timeline, 'type'),
    columnOf = (run) => tags[run] ?? names[run];
  const changes = sumByName(
    ops
      ? cellsOf(ops, 'name').map((name, i) => ({
          name,
          times: ['time_trace1', 'time_trace2'].map((column) => (cellsOf(ops, column)[i] ?? 0) / 1000),
          verdict: cellsOf(ops, 'verdict')[i] ?? '',
        }))
      : cellsOf(summary, 'name').map((name, i) => ({
          name,
          times: names.map((_, run) => cellsOf(summary, `${columnOf(run)}::total_direct_kernel_time_ms`)[i] ?? null),
          verdict: '',
        })),
  );
  const bare = (name) =>
    name
      .split('/')
      .pop()
      ?.replace(/\.(json|gz|pb|pftrace|sqlite)/g, '') || name;
  return {
    names,
    labels: names.map((name) => visible(shortName(bare(name), 28))),
    timeline,
    times: (type) => {
      const row = types.indexOf(type);
      return names.map((_, run) => (row < 0 ? null : (cellsOf(timeline, `${columnOf(run)}::time ms`)[row] ?? null)));
    },
    changes,
    whole: ops ?? summary,
  };
}
