// Numbers and names as the page shows them. The expectations of numbers are those of src/table/human_format_test.cpp.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {
  bytes,
  count,
  csvOf,
  exactTime,
  fixed,
  formatOf,
  fourDigits,
  humanNumber,
  markdownOf,
  parseNested,
  percent,
  plainText,
  shapesText,
  shortName,
  shownUnit,
  time,
  typesText,
  visible,
} from '../../../web/text.js';

const shown = (column, values) => values.map(formatOf({name: 't', unit: '', kind: 2, values, ...column}));

test('percent has two decimals', () =>
  assert.deepEqual(shown({unit: '%'}, [63.7129, 0, 100]), ['63.71', '0.00', '100.00']));

test('changes have their sign', () => {
  assert.deepEqual(shown({name: 'diff_pct', unit: '%'}, [-77.19, 829.71, 0]), ['-77.2%', '+829.7%', '0.0%']);
  assert.deepEqual(shown({name: 'difference', unit: 'ms'}, [11.2931, -76.78, 0]), ['+11.293', '-76.780', '0.000']);
  assert.deepEqual(shown({name: 'Count__new_diff', kind: 1}, [1234, -1, 0]), ['+1,234', '-1', '0']);
  assert.deepEqual(shown({name: 'overlap_pct', unit: '%'}, [5]), ['5.00']);
  assert.deepEqual(shown({name: 'share_of_change', unit: '%'}, [12]), ['12.00']);
});

test('times share the decimals that the largest needs', () => {
  assert.deepEqual(shown({unit: 'µs'}, [1.5, 0.25]), ['1.500', '0.250']);
  assert.deepEqual(shown({unit: 'ms'}, [100, 0.25]), ['100.00', '0.25']);
  assert.deepEqual(shown({unit: 'µs'}, [1234567, 0.25]), ['1,234,567.0', '0.2']);
});

test('other reals have four significant digits', () => {
  assert.deepEqual([12345.6, -1.23456, 123.456, 0.00123456, 1.23456e15, 0, Infinity, 1.23456e-5].map(fourDigits), [
    '12,346',
    '-1.235',
    '123.5',
    '0.001235',
    '1.235e+15',
    '0',
    'inf',
    '1.235e-05',
  ]);
});

test('counts are integers, also when they were averaged', () => {
  assert.deepEqual(shown({}, [102, 4]), ['102', '4']);
  assert.deepEqual(shown({}, [102.5, 4]), ['102.5', '4.000']);
});

test('a few bytes are not shown as a power of a megabyte', () =>
  assert.deepEqual(shown({unit: 'MiB'}, [3.815e-6, 250.5]), ['<0.0001', '250.5']));

test('integers have separators unless they are names', () => {
  assert.deepEqual(shown({kind: 1}, [999, 1000, -1234567]), ['999', '1,000', '-1,234,567']);
  assert.deepEqual(shown({kind: 1, unit: 'id'}, [1234567]), ['1234567']);
});

test('missing cells are empty and bools are words', () =>
  assert.deepEqual(shown({kind: 3}, [true, false, null]), ['yes', 'no', '']));

test('the unit is shown unless the name tells it', () => {
  const unit = (name, of) => shownUnit({name, unit: of, kind: 2, values: []});
  assert.deepEqual(
    [
      unit('time', 'ms'),
      unit('params', 'ms'),
      unit('time_ms', 'ms'),
      unit('Kernel Time (µs)_sum', 'µs'),
      unit('pid', 'id'),
      unit('new change', '%'),
    ],
    ['ms', 'ms', '', '', '', ''],
  );
});

test('ties go to the even digit, as in C', () =>
  assert.deepEqual(
    [fixed(0.25, 1), fixed(0.35, 1), fixed(0.75, 1), fixed(-0.25, 1), fixed(2.5, 0), fixed(1.45, 1), fixed(0.125, 2)],
    ['0.2', '0.3', '0.8', '-0.2', '2', '1.4', '0.12'],
  ));

test('times, shares and sizes in words', () => {
  assert.deepEqual(
    [0, 736, 23219182, 58100, 2.5e9, -1500].map((ns) => time(ns)),
    ['0 ns', '736 ns', '23.2 ms', '58.1 µs', '2.50 s', '-1.50 µs'],
  );
  assert.equal(time(109300666, 5), '109.30 ms');
  assert.deepEqual([221727, 23219182, 5, 1000000].map(exactTime), ['221.727 µs', '23.219182 ms', '5 ns', '1 ms']);
  assert.deepEqual(
    [count(2126), percent(78.756), bytes(2088508416), bytes(512)],
    ['2,126', '78.8 %', '2.09 GB', '512 B'],
  );
  assert.deepEqual(
    [humanNumber(23.219182, 'ms'), humanNumber(12, ''), humanNumber(null), humanNumber(99.2, '%')],
    ['23.219 ms', '12', '', '99.20 %'],
  );
});

test('what cannot be seen is written out', () => {
  assert.equal(visible('a\u202eb\u0000c\u200b\u{e0041}\n'), 'a\\u{202E}b\\u{0}c\\u{200B}\\u{E0041}\\u{A}');
  assert.equal(visible('naïve 日本 😀'), 'naïve 日本 😀');
});

test('names lose what says least first', () => {
  assert.equal(shortName('void at::native::fill<float, 4>(int, float*)', 16), 'fill<float, 4>');
  assert.equal(shortName('nvjet_sm90_tst', 20), 'nvjet_sm90_tst');
  for (const name of ['x'.repeat(1e6), 'f<'.repeat(3000), 'void g(' + 'int, '.repeat(500) + 'int)'])
    assert.ok(shortName(name, 40).length <= 40);
});

test('Python literals', () => {
  assert.deepEqual(parseNested('((8, 1024), (), (3,))'), [[8, 1024], [], [3]]);
  assert.deepEqual(
    JSON.parse(
      JSON.stringify(
        parseNested(`[{'name': 'it\\'s', 'count': 12, 'x': None, 'y': -1.5e-05, 'ok': True, "q": "a'b\\u0041"}]`),
      ),
    ),
    [{name: "it's", count: 12, x: null, y: -1.5e-5, ok: true, q: "a'bA"}],
  );
  for (const broken of ['', '(', "'abc", '[1, 2', '{1}', 'x y', '('.repeat(5000), '[1] 2', '{1: 2'])
    assert.equal(parseNested(broken), null);
  assert.equal(Object.getPrototypeOf(parseNested("{'__proto__': {'polluted': 1}}")), null);
  assert.equal({}.polluted, undefined);
  assert.equal(shapesText('((4096, 8192), (8192,), ())'), '4096×8192 · 8192');
  assert.equal(shapesText('(((2, 3), (4, 5)), ())'), '2 tensors');
  assert.equal(typesText("('c10::BFloat16', 'c10::BFloat16', 'float', '', 'Scalar')"), 'bf16 · fp32');
});

test('CSV is RFC 4180 with raw numbers, and runs nothing in a spreadsheet', () => {
  const columns = [
    {name: 'na,me', kind: 0, unit: '', values: ['=1+1', 'a"b', '-5', 'line\nend', null]},
    {name: 't', kind: 2, unit: 'ms', values: [1, 0.1, 1e-5, 1e16, null]},
    {name: 'ok', kind: 3, unit: '', values: [true, false, null, true, true]},
  ];
  assert.equal(
    csvOf(columns, [0, 1, 2, 3, 4]),
    '"na,me",t,ok\n\'=1+1,1.0,True\n"a""b",0.1,False\n-5,1e-05,\n"line\nend",1e+16,True\n,,True\n',
  );
  assert.equal(plainText(2, 23.219182), '23.219182');
  assert.equal(markdownOf(columns.slice(0, 2), [1]), '| na,me | t (ms) |\n| --- | ---: |\n| a"b | 0.1 |\n');
});
