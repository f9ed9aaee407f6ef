// text.js: numbers and names as a person reads them, and tables as text to copy.

const kHidden =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const kEllipsis = '…';
const kTimeUnits = ['ns', 'µs', 'us', 'ms', 's'];

const kWorkNames = new Map([
  ['gemm', 'GEMM'],
  ['conv', 'CONV'],
  ['convolution', 'CONV'],
  ['attention', 'SDPA'],
  ['normalization', 'NORM'],
  ['softmax', 'Softmax'],
  ['index', 'Indexing'],
  ['optimizer', 'Optimizer'],
  ['moe', 'MoE'],
  ['Uncategorized Events/XLA', 'fusion'],
]);

// Ops, kernels and HLO have different words for the same work: that of the ops, as in the lanes (analysis/page/category_colours).
/** @param {string} category */
export function workName(category) {
  const [, name, pass] = /^(.*?)(_fwd|_bwd)?$/s.exec(category) ?? [];
  return kWorkNames.has(name) ? kWorkNames.get(name) + (pass ?? '') : category;
}

// Text of a trace with what cannot be seen (controls, changes of direction, zero width) written out.
/** @param {string} text */
export function visible(text) {
  return String(text).replace(kHidden, (c) => '\\u{' + (c.codePointAt(0) ?? 0).toString(16).toUpperCase() + '}');
}

// What shortName() leaves away first: return type and parameters of a C++ name.
/** @param {string} name */
function withoutSignature(name) {
  name = name.replace(/^(static )?void /, '');
  const close = name.lastIndexOf(')');
  if (close < 0 || !/^( const.*| \[clone.*)?$/s.test(name.slice(close + 1))) return name;
  let depth = 0;
  for (let at = close; at > 0; --at) {
    if (name[at] === ')') ++depth;
    else if (name[at] === '(' && --depth === 0) return name.slice(0, at);
  }
  return name;
}

// Template arguments deeper than `depth` become an ellipsis.
/** @param {string} name @param {number} depth */
function folded(name, depth) {
  let out = '',
    inside = 0;
  for (let at = 0; at < name.length; ++at) {
    const c = name[at];
    if ((c === '>' && name[at - 1] !== '-') || c === ')' || c === '}') inside = Math.max(0, inside - 1);
    if (inside <= depth) out += c;
    if ((c === '<' || c === '(' || c === '{') && ++inside === depth + 1) out += kEllipsis;
  }
  return out;
}

// A name in at most `width` characters; what says least goes first.
/** @param {string} text @param {number} width */
export function shortName(text, width = 60) {
  text = String(text);
  if (text.length <= width) return text;
  if (text.length < 5000 && /^\w/.test(text) && (text.includes('<') || text.endsWith(')'))) {
    const bare = withoutSignature(text);
    if (bare.length <= width) return bare;
    const local = bare.replace(/\(anonymous namespace\)::/g, '').replace(/\w+::/g, '');
    for (let depth = 5; depth > 0; --depth) {
      const short = depth > 4 ? local : folded(local, depth);
      if (short.length <= width) return short;
    }
    text = local;
  }
  const head = Math.ceil((width - 1) * 0.6);
  return text.slice(0, head) + kEllipsis + text.slice(text.length - (width - 1 - head));
}

// As printf's %.Nf: a tie goes to the even digit.
/** @param {number} value @param {number} decimals */
export function fixed(value, decimals) {
  let text = value.toFixed(decimals);
  const halves = value * 2 ** (decimals + 1); // odd: exactly between two texts
  if (decimals < 20 && Number.isInteger(halves) && halves % 2 !== 0 && /[13579]$/.test(text)) {
    const below = Math.floor(Math.abs(value) * 10 ** decimals) / 10 ** decimals;
    text = (value < 0 ? '-' : '') + below.toFixed(decimals);
  }
  return withSeparators(text);
}

// 1234567.5 -> 1,234,567.5
/** @param {string} number */
export function withSeparators(number) {
  return number.replace(/^(-?)(\d+)/, (_, sign, digits) => sign + digits.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** @param {number} value */
export function fourDigits(value) {
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (size === 0) return '0';
  if (size >= 1e12 || size < 1e-4) return value.toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2');
  if (size >= 1000) return fixed(value, 0);
  return fixed(value, 3 - Math.floor(Math.log10(size)));
}

/** @typedef {{name: string, unit: string, kind: number, values: any[]}} ColumnLike */

// Whether its cells are differences, which have a sign.
/** @param {ColumnLike} column */
function isChange({name}) {
  return (
    name.endsWith('difference') ||
    name === 'change' ||
    name.endsWith(' change') ||
    name.endsWith('diff') ||
    name === 'diff_pct' ||
    (name.endsWith('_pct') && name.includes('__'))
  );
}

// The unit for a header, unless the name has it.
/** @param {ColumnLike} column */
export function shownUnit(column) {
  const {name, unit} = column;
  if (!unit || unit === 'id' || unit === 'text' || (unit === '%' && isChange(column))) return '';
  for (let at = name.indexOf(unit); at >= 0; at = name.indexOf(unit, at + 1))
    if (!/[A-Za-z0-9]/.test(name[at - 1] ?? ' ') && !/[A-Za-z0-9]/.test(name[at + unit.length] ?? ' ')) return '';
  return unit;
}

/** @param {ColumnLike} column */
function decimalsOf({unit, values}) {
  let largest = 0,
    whole = true;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    largest = Math.max(largest, Math.abs(value));
    if (whole && Math.floor(value) !== value) whole = false;
  }
  if (!unit && whole) return 0;
  if (unit === '%') return 2;
  return kTimeUnits.includes(unit) ? (largest < 100 ? 3 : largest < 1000 ? 2 : 1) : -1;
}

/**
 * How the cells of a column are shown: the rules of the terminal (table/human_format).
 * Kinds: 0 text, 1 integer, 2 real, 3 bool, 4 nested.
 * @param {ColumnLike} column @returns {(value: any) => string}
 */
export function formatOf(column) {
  const {name, unit, kind} = column;
  if (kind === 0 || kind === 4) return (value) => (value === null ? '' : visible(value));
  if (kind === 3) return (value) => (value === null ? '' : value ? 'yes' : 'no');
  const decimals = kind === 2 ? decimalsOf(column) : 0;
  const real = (value) => (decimals >= 0 && Math.abs(value) < 1e15 ? fixed(value, decimals) : fourDigits(value));
  if (isChange(column)) {
    const isPercent = unit === '%' || name.endsWith('change');
    return (value) => {
      if (value === null) return '';
      const text =
        isPercent && Math.abs(value) < 1e15
          ? fixed(value, 1)
          : kind === 1
            ? withSeparators(String(value))
            : real(value);
      return (value > 0 ? '+' : '') + text + (isPercent ? '%' : '');
    };
  }
  if (kind === 1)
    return (value) => (value === null ? '' : unit === 'id' ? String(value) : withSeparators(String(value)));
  const isSize = unit === 'MB' || unit === 'MiB' || unit === 'GB';
  return (value) => (value === null ? '' : isSize && value > 0 && value < 1e-4 ? '<0.0001' : real(value));
}

// One number with its unit: humanNumber(23.219182, 'ms') is "23.219 ms".
/** @param {number | null} value @param {string} unit */
export function humanNumber(value, unit = '') {
  if (value === null || value === undefined) return '';
  const kind = Number.isInteger(value) && !kTimeUnits.includes(unit) && unit !== '%' ? 1 : 2;
  const text = formatOf({name: '', unit, kind, values: [value]})(value);
  return unit && unit !== 'id' ? text + ' ' + unit : text;
}

/** @param {number} value @param {number} digits significant ones */
function rounded(value, digits) {
  if (value === 0) return '0';
  return fixed(value, Math.min(20, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)) + 1e-12))));
}

// A time: "23.2 ms".
/** @param {number} ns @param {number} digits significant ones */
export function time(ns, digits = 3) {
  const size = Math.abs(ns);
  if (size < 1000) return `${rounded(ns, Math.min(digits, 3))} ns`;
  if (size < 1e6) return `${rounded(ns / 1e3, digits)} µs`;
  return size < 1e9 ? `${rounded(ns / 1e6, digits)} ms` : `${rounded(ns / 1e9, digits)} s`;
}

// A time to the nanosecond: "23.219182 ms".
/** @param {number} ns */
export function exactTime(ns) {
  const size = Math.abs(ns),
    power = size < 1000 ? 0 : size < 1e6 ? 3 : size < 1e9 ? 6 : 9;
  const text = power ? (ns / 10 ** power).toFixed(power).replace(/\.?0+$/, '') : String(ns);
  return `${withSeparators(text)} ${['ns', 'µs', 'ms', 's'][power / 3]}`;
}

/** @param {number} n */
export function count(n) {
  return withSeparators(String(n));
}

/** @param {number} p */
export function percent(p) {
  return `${fixed(p, 1)} %`;
}

/** @param {number} b */
export function bytes(b) {
  const size = Math.abs(b),
    units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = size < 1000 ? 0 : Math.min(5, Math.floor(Math.log10(size) / 3 + 1e-12));
  return `${power ? rounded(b / 1000 ** power, 3) : b} ${units[power]}`;
}

// A double as Python and the CSV files write it.
/** @param {number} value */
function pythonReal(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  const text = size < 1e-6 && size !== 0 ? value.toFixed(20).replace(/0+$/, '') : String(value);
  return text.includes('.') ? text : text + '.0';
}

// A cell in full, as in the CSV files.
/** @param {number} kind @param {any} value */
export function plainText(kind, value) {
  if (value === null) return '';
  if (kind === 2) return pythonReal(value);
  return kind === 3 ? (value ? 'True' : 'False') : String(value);
}

// RFC 4180; text that a spreadsheet would run gets an apostrophe.
/** @param {ColumnLike[]} columns @param {Iterable<number>} rows */
export function csvOf(columns, rows) {
  const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const guarded = (text) =>
    /^'*[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? "'" + text : text;
  const lines = [columns.map((column) => field(guarded(column.name))).join(',')];
  for (const row of rows) {
    lines.push(
      columns
        .map(({kind, values}) => {
          const text = plainText(kind, values[row]);
          return kind === 0 || kind === 4 ? field(guarded(text)) : text;
        })
        .join(','),
    );
  }
  return lines.join('\n') + '\n';
}

// A pipe table of the texts as shown.
/** @param {ColumnLike[]} columns @param {Iterable<number>} rows */
export function markdownOf(columns, rows) {
  const cell = (text) => text.replace(/[\\|`*_<>[\]]/g, '\\$&');
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const formats = columns.map(formatOf);
  const lines = [
    line(columns.map((column) => cell(visible(column.name)) + (shownUnit(column) ? ` (${shownUnit(column)})` : ''))),
    line(columns.map(({kind}) => (kind === 1 || kind === 2 ? '---:' : '---'))),
  ];
  for (const row of rows) lines.push(line(columns.map(({values}, i) => cell(formats[i](values[row])))));
  return lines.join('\n') + '\n';
}

// The value of a Python literal as the tables hold it (tuples become arrays); null where it is none.
/** @param {string} text @returns {any} */
export function parseNested(text) {
  let at = 0,
    depth = 0;
  const space = () => {
    while (text[at] === ' ' || text[at] === '\n') ++at;
  };
  const broken = () => new SyntaxError('no Python literal');
  const string = () => {
    const quote = text[at++];
    let out = '';
    for (; at < text.length && text[at] !== quote; ++at) {
      if (text[at] !== '\\') {
        out += text[at];
        continue;
      }
      const c = text[++at],
        digits = c === 'x' ? 2 : c === 'u' ? 4 : c === 'U' ? 8 : 0;
      const code = digits ? parseInt(text.slice(at + 1, at + 1 + digits), 16) : 0;
      if (digits) out += code <= 0x10ffff ? String.fromCodePoint(code || 0) : '\ufffd';
      else out += c === 'n' ? '\n' : c === 't' ? '\t' : c === 'r' ? '\r' : c;
      at += digits;
    }
    if (text[at++] !== quote) throw broken();
    return out;
  };
  /** @returns {any} */
  const value = () => {
    space();
    const c = text[at];
    if (c === "'" || c === '"') return string();
    if (c === '(' || c === '[') {
      if (++depth > 200) throw broken();
      const close = c === '(' ? ')' : ']',
        items = [];
      for (++at, space(); text[at] !== close; space()) {
        items.push(value());
        space();
        if (text[at] === ',') ++at;
        else if (text[at] !== close) throw broken();
      }
      ++at, --depth;
      return items;
    }
    if (c === '{') {
      if (++depth > 200) throw broken();
      const items = Object.create(null);
      for (++at, space(); text[at] !== '}'; space()) {
        const key = value();
        space();
        if (text[at++] !== ':') throw broken();
        items[String(key)] = value();
        space();
        if (text[at] === ',') ++at;
        else if (text[at] !== '}') throw broken();
      }
      ++at, --depth;
      return items;
    }
    const word = /^[\w.+-]+/.exec(text.slice(at, at + 40))?.[0] ?? '';
    at += word.length;
    if (word === 'None') return null;
    if (word === 'True' || word === 'False') return word === 'True';
    if (word === 'nan' || word === 'inf' || word === '-inf')
      return word === 'nan' ? NaN : word === 'inf' ? Infinity : -Infinity;
    const number = Number(word);
    if (!word || Number.isNaN(number)) throw broken();
    return number;
  };
  try {
    const result = value();
    space();
    return at === text.length ? result : null;
  } catch {
    return null;
  }
}

// Shapes in little room: "((4096, 8192), (8192,), ())" -> "4096×8192 · 8192".
/** @param {string} dims */
export function shapesText(dims) {
  const shapes = parseNested(dims);
  if (!Array.isArray(shapes)) return '';
  const one = (shape) => {
    if (!Array.isArray(shape) || !shape.length) return '';
    return Array.isArray(shape[0]) ? `${shape.length} tensors` : shape.join('×');
  };
  return (Array.isArray(shapes[0]) || !shapes.length || shapes.some(Array.isArray) ? shapes.map(one) : [one(shapes)])
    .filter(Boolean)
    .join(' · ');
}

// Types in little room: the distinct ones, "bf16 · f32".
/** @param {string} types */
export function typesText(types) {
  const list = parseNested(types);
  if (!Array.isArray(list)) return '';
  const short = new Map([
    ['c10::BFloat16', 'bf16'],
    ['c10::Half', 'fp16'],
    ['float', 'fp32'],
    ['double', 'fp64'],
    ['long int', 'int64'],
    ['int', 'int32'],
    ['c10::Float8_e4m3fn', 'fp8'],
    ['c10::Float8_e5m2', 'fp8'],
    ['unsigned char', 'uint8'],
  ]);
  const told = list
    .flat()
    .filter((type) => typeof type === 'string' && type && !type.startsWith('Scalar') && type !== 'GenericList');
  return [...new Set(told.map((type) => short.get(type) ?? type.replace(/^c10::/, '')))].join(' · ');
}
