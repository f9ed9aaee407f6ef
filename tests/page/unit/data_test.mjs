// The data of a page: what the writer packs is read, and what is damaged is refused with a sentence.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {deflateSync} from 'node:zlib';
import {PageError, decodeBlob, hash32, pageOf, tableOf} from '../../../web/data.js';

const utf8 = (text) => [...new TextEncoder().encode(text)];
const number = (value) => {
  const out = [];
  for (; value >= 128; value = Math.floor(value / 128)) out.push(value % 128 | 128);
  return [...out, value];
};
const zigzag = (value) => number(value < 0 ? -value * 2 - 1 : value * 2);
const reals = (values) => [...new Uint8Array(new Float64Array(values).buffer)];
const texts = (values) => [...values.flatMap((text) => number(utf8(text).length)), ...values.flatMap(utf8)];
const column = (name, type, count, bytes, delta = 0) => ({name, type, count, bytes, delta});
const blob = (columns) =>
  Uint8Array.from([
    ...number(columns.length),
    ...columns.flatMap(({name, type, count, bytes, delta}) => [
      ...number(utf8(name).length),
      ...utf8(name),
      type,
      delta,
      ...number(count),
      ...number(bytes.length),
    ]),
    ...columns.flatMap(({bytes}) => bytes),
  ]);
const packed = (bytes) => deflateSync(bytes).toString('base64');

function page(blobs, manifest) {
  return pageOf(
    {schema: 'tracelens.page/1', ...manifest, blobs: blobs.map((bytes) => ({raw_bytes: bytes.length}))},
    (i) => (blobs[i] ? packed(blobs[i]) : null),
  );
}

test('every type of column', () => {
  const read = decodeBlob(
    blob([
      column('u', 0, 3, [0, 127, 2 ** 53 - 1].flatMap(number)),
      column('s', 1, 3, [5, -3, 10].flatMap(zigzag), 1),
      column('b', 2, 2, [7, 255]),
      column('f', 3, 2, reals([0.1, -Infinity])),
      column('t', 4, 3, texts(['', 'é', 'abc'])),
    ]),
  );
  assert.deepEqual([...read.get('u')], [0, 127, 2 ** 53 - 1]);
  assert.deepEqual([...read.get('s')], [5, 2, 12]);
  assert.deepEqual([...read.get('b')], [7, 255]);
  assert.deepEqual([...read.get('f')], [0.1, -Infinity]);
  assert.deepEqual(read.get('t'), ['', 'é', 'abc']);
});

test('a table', async () => {
  const words = blob([column('text', 4, 6, texts(['', 'name', 'ms', 'what', 'gemm', 'time']))]);
  const cells = blob([
    column('name', 0, 2, [1, 5]),
    column('unit', 0, 2, [0, 2]),
    column('description', 0, 2, [3, 0]),
    column('kind', 2, 2, [0, 2]),
    column('0', 0, 3, [4, 0, 4]),
    column('1', 3, 3, reals([1.5, 0, 2])),
    column('1?', 2, 1, [0b101]),
  ]);
  const table = await page([words, cells], {
    tables: [{name: 'ops', description: 'd', rows: 9, kept: 3, blob: 1, first: ['name']}],
  }).table('ops');
  assert.deepEqual(
    table.columns.map(({name, unit, description, kind, values}) => [name, unit, description, kind, values]),
    [
      ['name', '', 'what', 0, ['gemm', '', 'gemm']],
      ['time', 'ms', '', 2, [1.5, null, 2]],
    ],
  );
  assert.deepEqual([table.rows, table.allRows, table.column('none')], [3, 9, null]);
  assert.equal(table.key(0), hash32('ops\u001fgemm\u001f'));
  assert.equal(table.key(2), table.key(0) + '-2');
  assert.equal(table.rowOf(table.key(2)), 2);
});

test('keys are FNV-1a', () =>
  assert.deepEqual([hash32(''), hash32('a'), hash32('foobar')], ['811c9dc5', 'e40c292c', 'bf9cf968']));

test('a lane and its slices', async () => {
  const empty = ['run_length', 'run_busy', 'run_count', 'run_longest', 'run_name'].map((name) =>
    column(name, 0, 0, []),
  );
  const lane = blob([
    column('start', 1, 2, [100, -40].flatMap(zigzag), 1),
    column('duration', 0, 2, [5, 6]),
    column('name', 0, 2, [0, 0]),
    column('class', 2, 2, [0, 0]),
    column('row', 2, 2, [0, 1]),
    column('op', 0, 2, [0, 1]),
    column('module', 0, 2, [0, 0]),
    column('latency', 1, 2, [-1, 7].flatMap(zigzag)),
    column('event', 1, 2, [3, 4].flatMap(zigzag), 1),
    column('run_start', 1, 0, []),
    ...empty,
    column('run_class', 2, 0, []),
    column('run_row', 2, 0, []),
  ]);
  const read = await page([blob([column('text', 4, 1, texts(['']))]), lane], {
    lanes: [{blob: 1, slices: 2, runs: 0}],
  }).lane(0);
  assert.deepEqual(
    [[...read.start], [...read.latency], [...read.event], [...read.op]],
    [
      [100, 60],
      [-1, 7],
      [3, 7],
      [0, 1],
    ],
  );
});

test('a damaged page is refused with a sentence, whatever byte is hit', async () => {
  assert.throws(() => pageOf(null, () => null), PageError);
  assert.throws(() => pageOf({schema: 'tracelens.page/2'}, () => null), PageError);
  assert.throws(() => page([], {tables: [{name: 't', rows: 1, kept: 1, blob: 5}]}), PageError);
  const good = blob([column('text', 4, 3, texts(['', 'name', 'x'])), column('n', 0, 2, [1, 300].flatMap(number))]);
  for (let at = 0; at < good.length; ++at) {
    for (const value of [0, 1, 127, 128, 255]) {
      const bad = Uint8Array.from(good);
      bad[at] = value;
      try {
        decodeBlob(bad);
      } catch (error) {
        assert.ok(error instanceof PageError, String(error));
      }
    }
    assert.throws(() => decodeBlob(good.subarray(0, at)), PageError);
  }
  const broken = pageOf({schema: 'tracelens.page/1', blobs: [{raw_bytes: 10}]}, () => 'not base64 !');
  await assert.rejects(broken.texts(), PageError);
  const bomb = pageOf({schema: 'tracelens.page/1', blobs: [{raw_bytes: 10}]}, () => packed(new Uint8Array(1e6)));
  await assert.rejects(bomb.texts(), PageError);
});

test('a table made in the page', () => {
  const table = tableOf({
    name: 'bins',
    columns: [{name: 'from', unit: 'µs', description: '', kind: 2, values: [1, 2]}],
  });
  assert.deepEqual([table.rows, table.allRows, table.column('from')?.values], [2, 2, [1, 2]]);
});
