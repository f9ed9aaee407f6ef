// The pure parts of the views with pictures.
import assert from 'node:assert/strict';
import test from 'node:test';
import {mergedClasses, opRow} from '../../../web/picture.js';
import {changePercent, comparedRuns, signed, sumByName} from '../../../web/runs.js';
import {tableOf} from '../../../web/data.js';
import {workName} from '../../../web/text.js';
import {rowBefore, stepPath} from '../../../web/view_memory.js';
import {byArrival, heatBins} from '../../../web/view_ranks.js';
import {roofLine} from '../../../web/view_roofline.js';
import {clampWindow, parseWindow, shellWord, wantedNames} from '../../../web/view_timeline.js';

test('the window stays in the run, and above the least', () => {
  assert.deepEqual(clampWindow(-50, 1000, 10000), [0, 1050]);
  assert.deepEqual(clampWindow(9900, 10500, 10000), [9400, 10000]);
  assert.deepEqual(clampWindow(500, 510, 10000), [455, 555]);
  assert.deepEqual(clampWindow(0, 1e12, 10000), [0, 10000]);
  assert.deepEqual(parseWindow('1000-3000', 10000), [1000, 3000]);
  for (const stale of [null, '', 'x', '5-1', '20000-30000', '-5-10']) assert.equal(parseWindow(stale, 10000), null);
});

test('names with all words, and words for a shell', () => {
  assert.deepEqual([...wantedNames(['', 'nvjet_TST', 'gemm nvjet', 'copy'], 'NVJET')], [0, 1, 1, 0]);
  assert.deepEqual([...wantedNames(['', 'nvjet_TST', 'gemm nvjet'], 'nvjet gemm')], [0, 0, 1]);
  assert.deepEqual([...wantedNames(['a'], ' ')], [0]);
  assert.equal(shellWord('rank0.json.gz'), 'rank0.json.gz');
  assert.equal(shellWord("it's $x"), `'it'\\''s $x'`);
});

test('roofs reach both edges of the plot', () => {
  assert.deepEqual(roofLine(100, 2, 0.1, 1000), [
    [0.1, 0.2],
    [50, 100],
    [1000, 100],
  ]);
  assert.deepEqual(roofLine(100, 2, 60, 1000), [
    [60, 100],
    [1000, 100],
  ]);
  assert.deepEqual(roofLine(100, 2, 0.1, 10), [
    [0.1, 0.2],
    [10, 20],
  ]);
});

test('bins of a heat map hold every column once', () => {
  assert.deepEqual(heatBins(3, 100), [
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  const bins = heatBins(5000, 700);
  assert.equal(bins.length, 700);
  assert.ok(bins.every(([from, to], i) => to > from && from === (i ? bins[i - 1][1] : 0)) && bins.at(-1)[1] === 5000);
  assert.deepEqual(heatBins(0, 10), []);
});

test('ops of one name are one row, the largest change first', () => {
  const rows = sumByName([
    {name: 'mm', times: [1, 2], verdict: 'slower'},
    {name: 'add', times: [1, 1.5], verdict: 'noise'},
    {name: 'mm', times: [2, null], verdict: 'gone'},
    {name: 'mul', times: [4, 1], verdict: 'faster'},
  ]);
  assert.deepEqual(
    rows.map((row) => [row.name, row.times, row.verdict]),
    [
      ['mul', [4, 1], 'faster'],
      ['mm', [3, 2], 'mixed'],
      ['add', [1, 1.5], 'noise'],
    ],
  );
});

test('a memory curve keeps each value until the next', () => {
  assert.equal(stepPath([0, 10], [5, 7]), 'M0.0 5.0H10.0V7.0');
  assert.deepEqual(
    [0, 5, 7, 99].map((moment) => rowBefore([5, 6, 8], moment)),
    [-1, 0, 1, 2],
  );
});

test('work has one name, and a legend one entry per colour', () => {
  assert.deepEqual(['gemm', 'attention_bwd', 'GEMM', 'elementwise', '', 'Uncategorized Events/XLA'].map(workName), [
    'GEMM',
    'SDPA_bwd',
    'GEMM',
    'elementwise',
    '',
    'fusion',
  ]);
  assert.deepEqual(
    mergedClasses([
      {name: 'SDPA_fwd', colour: '#111111'},
      {name: 'copy', colour: '#222222', hatched: true},
      {name: 'SDPA_bwd', colour: '#111111'},
      {name: 'fill', colour: '#222222'},
    ]).map(({name}) => name),
    ['SDPA', 'copy', 'fill'],
  );
});

test('collectives stand by when their first rank arrived', () => {
  assert.deepEqual(
    byArrival(
      [
        [30, null, 5],
        [20, 10, null],
      ],
      3,
    ),
    [2, 1, 0],
  );
});

/** @param {any[]} tables @param {any} manifest @returns {any} */
function pageWith(tables, manifest = {}) {
  return {
    manifest: {groups: [], source: [], ...manifest},
    hasTable: (name) => tables.some((table) => table.name === name),
    table: async (name) => tables.find((table) => table.name === name) ?? null,
  };
}
const column = (name, values) => ({
  name,
  unit: '',
  description: '',
  kind: typeof values[0] === 'number' ? 2 : 0,
  values,
});

test('an op without a row has that of the op around it, by kernel and first shape', async () => {
  const page = pageWith([
    tableOf({
      name: 'unified_perf_summary',
      columns: [
        column('name', ['aten::layer_norm', 'aten::layer_norm', 'aten::mm']),
        column('Input Dims', ['((8, 4), (4,))', '((2, 4), (4,))', '((1, 2), (2, 3))']),
        column('Input type', ['', '', '']),
        column('kernel_details_summary', ["[{'name': 'ln'}]", "[{'name': 'ln'}]", "[{'name': 'gemm'}]"]),
      ],
    }),
  ]);
  const row = async (name, shapes, kernel) => (await opRow(page, name, shapes, '', kernel)).row;
  assert.equal(await row('aten::mm', '((1, 2), (2, 3))', ''), 2);
  assert.equal(await row('aten::native_layer_norm', '((2, 4), (), (4,))', 'ln'), 1);
  assert.equal(await row('aten::native_layer_norm', '((9, 9),)', 'ln'), -1);
  assert.equal(await row('aten::other', '', 'gemm'), 2);
  assert.equal(await row('aten::other', '', ''), -1);
});

test('runs are called by their files, and have the columns of their tags', async () => {
  const page = pageWith(
    [
      tableOf({
        name: 'gpu_timeline',
        columns: [
          column('type', ['busy_time', 'total_time']),
          column('base::time ms', [3, 4]),
          column('new::time ms', [5, 6]),
        ],
      }),
      tableOf({
        name: 'ops_diff',
        columns: [
          column('name', ['a', 'b', 'a']),
          column('time_trace1', [1000, 2000, 1000]),
          column('time_trace2', [4000, 1000, 1000]),
          column('verdict', ['slower', 'faster', 'noise']),
        ],
      }),
    ],
    {groups: ['h100', 'mi300']},
  );
  const runs = await comparedRuns(page);
  assert.deepEqual(runs.labels, ['h100', 'mi300']);
  assert.deepEqual(runs.times('total_time'), [4, 6]);
  assert.deepEqual(runs.times('nothing'), [null, null]);
  assert.deepEqual(
    runs.changes.map(({name, times}) => [name, ...times]),
    [
      ['a', 2, 5],
      ['b', 2, 1],
    ],
  );
  assert.equal(changePercent(5, 4), '+25.0 %');
  assert.equal(signed(-2.2115), '-2.212');
});
