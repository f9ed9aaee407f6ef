// Sorting and filtering: what a table shows. No document is needed for that.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {hashOf, parseHash} from '../../../web/route.js';
import {searchHits} from '../../../web/search.js';
import {filterOf, sortedRows} from '../../../web/table.js';
import {meanByTime, opRows} from '../../../web/view_ops.js';

const columns = [
  {name: 'name', unit: '', kind: 0, values: ['aten::mm', 'aten::copy_', null, 'nvjet GEMM']},
  {name: 'time', unit: 'ms', kind: 2, values: [5, 0.5, null, 2]},
  {name: 'Pct Roofline_mean', unit: '%', kind: 2, values: [67, 30, 12, null]},
];
const rowsOf = (text) => [0, 1, 2, 3].filter(filterOf(text, columns) ?? (() => true));

test('filter: all words, in any order, and bounds of numbers', () => {
  assert.deepEqual(rowsOf(''), [0, 1, 2, 3]);
  assert.deepEqual(rowsOf('ATEN'), [0, 1]);
  assert.deepEqual(rowsOf('gemm nvjet'), [3]);
  assert.deepEqual(rowsOf('ms>1'), [0, 3]);
  assert.deepEqual(rowsOf('roof<50'), [1, 2]);
  assert.deepEqual(rowsOf('aten ms>=0.5 ms<5'), [1]);
  assert.deepEqual(rowsOf('nothing>1'), []);
});

test('sort: stable, missing cells last in both directions', () => {
  const values = [2, null, 1, 2, NaN, 3];
  assert.deepEqual(sortedRows([0, 1, 2, 3, 4, 5], values, true), [5, 0, 3, 2, 1, 4]);
  assert.deepEqual(sortedRows([0, 1, 2, 3, 4, 5], values, false), [2, 0, 3, 5, 1, 4]);
});

test('a sort and a filter of 5,000 rows', () => {
  const names = Array.from({length: 5000}, (_, i) => `kernel_${(i * 7919) % 5000}<float, ${'x'.repeat(200)}>`),
    rows = names.map((_, i) => i),
    columns = [{name: 'n', unit: '', description: '', kind: 0, values: names}],
    sorted = sortedRows(rows, names, false).map((row) => names[row]);
  assert.equal(new Set(sorted).size, 5000);
  assert.match(sorted[0], /^kernel_0</);
  assert.equal(rows.filter(filterOf('kernel_49', columns)).length, 111);
});

test('addresses come back as they were written, and broken ones are read as far as they go', () => {
  const hash = hashOf('table', 'kernel summary', [
    ['f', 'a&b=c?#'],
    ['t', '1-2'],
    ['none', null],
  ]);
  const {view, name, values} = parseHash(hash);
  assert.deepEqual(
    [view, name, [...values]],
    [
      'table',
      'kernel summary',
      [
        ['f', 'a&b=c?#'],
        ['t', '1-2'],
      ],
    ],
  );
  assert.equal(parseHash('').view, 'overview');
  assert.equal(parseHash('#tables').view, 'table');
  assert.equal(parseHash('#Modules?node=3').view, 'tree');
  assert.deepEqual([...parseHash('#ops?f=%zz&sort=-ms').values], [['sort', '-ms']]);
});

test('search: words in any order', () => {
  const all = ['nvjet_sm90 gemm', 'aten::mm', 'GEMM nvjet'].map((name) => ({
    group: 'Kernels',
    name,
    ns: 0,
    hash: '#',
    low: name.toLowerCase(),
  }));
  assert.deepEqual(
    searchHits(all, 'gemm NVJET').map(({name}) => name),
    ['nvjet_sm90 gemm', 'GEMM nvjet'],
  );
  assert.deepEqual(searchHits(all, '  '), []);
});

test('ops: calls of one name stand together, the costliest first', () => {
  const cells = {name: ['a', 'b', 'a'], n: [1, 2, 3], us: [1000, 5000, 2500]};
  const table = {column: (name) => (cells[name] ? {values: cells[name]} : null)};
  const {ops} = opRows(table, {name: 'name', calls: 'n', us: 'us'});
  assert.deepEqual(
    ops.map(({name, args, figures}) => [name, args.length, figures[0], figures[1]]),
    [
      ['b', 1, 2, 5],
      ['a', 2, 4, 3.5],
    ],
  );
});

test('ops: the rate of several shapes is by the time of those that have one', () => {
  const args = [{figures: [1, 3, 0, 100]}, {figures: [1, 1, 0, 20]}, {figures: [9, 99, 0, null]}];
  assert.equal(meanByTime(args, 3), 80);
  assert.equal(meanByTime([{figures: [1, 1, 0, null]}], 3), null);
});
