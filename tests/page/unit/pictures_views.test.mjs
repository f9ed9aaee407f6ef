// The pure parts of the views with pictures.
import assert from 'node:assert/strict';
import test from 'node:test';
import {sumByName} from '../../../web/runs.js';
import {rowBefore, stepPath} from '../../../web/view_memory.js';
import {heatBins} from '../../../web/view_ranks.js';
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
