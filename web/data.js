// data.js: the data in the page (docs/page-format.md). The manifest is read at once, a blob when a view first asks for it.

/** A page that cannot be read; the message is a sentence for its reader. */
export class PageError extends Error {}

/**
 * @typedef {{name: string, unit: string, description: string, kind: number, values: any[]}} Column values: null is missing
 * @typedef {{name: string, description: string, rows: number, allRows: number, columns: Column[], first: string[],
 *   column: (name: string) => Column | null, key: (row: number) => string, rowOf: (key: string) => number}} TableData
 */

const kDamaged = 'This page is damaged: please write it again with tracelens.';
const kInflater = /** @type {any} */ (globalThis).DecompressionStream; // unknown to older type checkers
const kTypeBytes = [1, 1, 1, 8, 1]; // that a value needs at least: uvar, svar, u8, f64, utf8

/** Reads numbers and columns from bytes, never behind their end. */
class BlobReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new PageError(kDamaged);
    return this.bytes[this.at++];
  }

  number() {
    let value = 0,
      unit = 1;
    for (let i = 0; i < 9; ++i, unit *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    throw new PageError(kDamaged);
  }

  /** @param {number} size */
  take(size) {
    if (size > this.bytes.length - this.at) throw new PageError(kDamaged);
    return this.bytes.subarray(this.at, (this.at += size));
  }

  /** @param {number} type @param {boolean} isDelta @param {number} count @returns {any} */
  column(type, isDelta, count) {
    if (type === 2) return this.take(count);
    if (type === 4) return this.texts(count);
    const values = new Float64Array(count);
    if (type === 3) {
      const view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
      for (let i = 0; i < count; ++i) values[i] = view.getFloat64(i * 8, true);
      return values;
    }
    let before = 0;
    for (let i = 0; i < count; ++i) {
      let value = this.number();
      if (type === 1) value = value % 2 ? -(value + 1) / 2 : value / 2;
      before = isDelta ? before + value : value;
      values[i] = before;
    }
    return values;
  }

  /** @param {number} count @returns {string[]} */
  texts(count) {
    const lengths = Array.from({length: count}, () => this.number()),
      decoder = new TextDecoder();
    return lengths.map((length) => decoder.decode(this.take(length)));
  }
}

/** @param {Uint8Array} bytes @returns {Map<string, any>} columns by name: string[], Uint8Array, or Float64Array */
export function decodeBlob(bytes) {
  const reader = new BlobReader(bytes);
  const headers = [];
  for (let left = reader.number(); left > 0; --left) {
    const name = new TextDecoder().decode(reader.take(reader.number()));
    const type = reader.byte(),
      isDelta = reader.byte() === 1,
      count = reader.number(),
      size = reader.number();
    if (type > 4 || count * kTypeBytes[type] > size || size > bytes.length) throw new PageError(kDamaged);
    headers.push({name, type, isDelta, count, size});
  }
  const columns = new Map();
  for (const {name, type, isDelta, count, size} of headers)
    columns.set(name, new BlobReader(reader.take(size)).column(type, isDelta, count));
  return columns;
}

/** @param {string} text base64 of zlib @param {number} size of what comes out */
async function unpacked(text, size) {
  const fromBase64 = /** @type {any} */ (Uint8Array).fromBase64;
  try {
    const packed = fromBase64 ? fromBase64.call(Uint8Array, text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new kInflater('deflate'));
    const bytes = new Uint8Array(size),
      reader = stream.getReader();
    let at = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (part.value.length > size - at) throw new PageError(kDamaged);
      bytes.set(part.value, at);
      at += part.value.length;
    }
    if (at !== size) throw new PageError(kDamaged);
    return bytes;
  } catch (error) {
    throw error instanceof PageError ? error : new PageError(kDamaged);
  }
}

// FNV-1a, 32 bits.
/** @param {string} text */
export function hash32(text) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

// A table made in the page, or read from a blob.
/** @param {{name: string, description?: string, allRows?: number, columns: Column[], first?: string[]}} parts @returns {TableData} */
export function tableOf({name, description = '', allRows, columns, first = []}) {
  const rows = columns.length ? columns[0].values.length : 0;
  const byName = new Map(columns.map((column) => [column.name, column]));
  /** @type {string[] | null} */
  let keys = null;
  const allKeys = () => {
    const seen = new Map(),
      told = columns.filter(({kind}) => kind === 0 || kind === 4);
    return Array.from({length: rows}, (_, row) => {
      const key = hash32([name, ...told.map(({values}) => values[row] ?? '')].join('\u001f') + '\u001f');
      seen.set(key, (seen.get(key) ?? 0) + 1);
      return seen.get(key) > 1 ? `${key}-${seen.get(key)}` : key;
    });
  };
  return {
    name,
    description,
    rows,
    allRows: allRows ?? rows,
    columns,
    first,
    column: (column) => byName.get(column) ?? null,
    key: (row) => (keys ??= allKeys())[row],
    rowOf: (key) => (keys ??= allKeys()).indexOf(key),
  };
}

export class Page {
  /** @param {any} manifest checked @param {(blob: number) => string | null} blobText */
  constructor(manifest, blobText) {
    this.manifest = manifest;
    this.blobText = blobText;
    /** @type {Map<string, Promise<any>>} */
    this.kept = new Map();
  }

  // Made once.
  /** @param {string} key @param {() => Promise<any>} make @returns {Promise<any>} */
  once(key, make) {
    const there = this.kept.get(key);
    if (there) return there;
    const made = make();
    this.kept.set(key, made);
    return made;
  }

  /** @param {number} number @returns {Promise<Map<string, any>>} */
  async blob(number) {
    const size = this.manifest.blobs[number]?.raw_bytes,
      text = this.blobText(number);
    if (text === null || !Number.isSafeInteger(size) || size < 0 || size > 2 ** 30) throw new PageError(kDamaged);
    return decodeBlob(await unpacked(text, size));
  }

  /** @returns {Promise<string[]>} */
  texts() {
    return this.once('texts', async () => (await this.blob(0)).get('text') ?? []);
  }

  /** @param {string} name @returns {Promise<TableData | null>} */
  table(name) {
    const about = this.manifest.tables.find((table) => table.name === name);
    if (!about) return Promise.resolve(null);
    return this.once('table ' + name, async () => {
      const [texts, blob] = await Promise.all([this.texts(), this.blob(about.blob)]);
      const text = (id) => texts[id] ?? '';
      const names = blob.get('name') ?? [],
        units = blob.get('unit') ?? [],
        descriptions = blob.get('description') ?? [],
        kinds = blob.get('kind') ?? [];
      const columns = Array.from(names, (id, i) => {
        const cells = blob.get(String(i)),
          present = blob.get(i + '?'),
          kind = kinds[i];
        if (!cells || cells.length !== about.kept || (present && present.length < Math.ceil(about.kept / 8)))
          throw new PageError(kDamaged);
        const isText = kind === 0 || kind === 4;
        const values = Array.from(cells, (cell, row) => {
          if (present && !(present[row >> 3] & (1 << (row & 7)))) return null;
          return isText ? text(cell) : kind === 3 ? cell !== 0 : cell;
        });
        return {name: text(id), unit: text(units[i]), description: text(descriptions[i]), kind, values};
      });
      return tableOf({name, description: about.description, allRows: about.rows, columns, first: about.first});
    });
  }

  // The slices and runs of a lane.
  /** @param {number} i @returns {Promise<any>} */
  lane(i) {
    return this.once('lane ' + i, async () => {
      const meta = this.manifest.lanes[i];
      if (!meta) throw new PageError(kDamaged);
      const blob = await this.blob(meta.blob);
      const column = (name, size) => {
        const values = blob.get(name);
        if (!values || values.length !== size) throw new PageError(kDamaged);
        return values;
      };
      const whole = (name, size) => Uint32Array.from(column(name, size));
      const slices = meta.slices,
        runs = meta.runs;
      return {
        meta,
        start: column('start', slices),
        duration: column('duration', slices),
        name: whole('name', slices),
        class: column('class', slices),
        row: column('row', slices),
        op: whole('op', slices),
        module: whole('module', slices),
        latency: column('latency', slices),
        event: column('event', slices),
        runs: {
          start: column('run_start', runs),
          length: column('run_length', runs),
          busy: column('run_busy', runs),
          count: column('run_count', runs),
          longest: column('run_longest', runs),
          name: whole('run_name', runs),
          class: column('run_class', runs),
          row: column('run_row', runs),
        },
      };
    });
  }

  // The ops that slices name.
  /** @returns {Promise<{name: string[], shapes: string[], types: string[]}>} */
  ops() {
    return this.once('ops', async () => {
      if (this.manifest.ops_blob < 0) return {name: [], shapes: [], types: []};
      const [texts, blob] = await Promise.all([this.texts(), this.blob(this.manifest.ops_blob)]);
      const column = (name) => Array.from(blob.get(name) ?? [], (id) => texts[id] ?? '');
      return {name: column('name'), shapes: column('shapes'), types: column('types')};
    });
  }

  // The tree: columns by name, `name` as texts. Parents come before their children.
  /** @returns {Promise<any>} */
  nodes() {
    return this.once('nodes', async () => {
      /** @type {Record<string, any>} */
      const nodes = {};
      const names = ['parent', 'name', 'level', 'class', 'gpu', 'backward', 'calls', 'gpu_events', 'op'];
      if (this.manifest.nodes_blob < 0) return Object.fromEntries(names.map((name) => [name, []]));
      const [texts, blob] = await Promise.all([this.texts(), this.blob(this.manifest.nodes_blob)]);
      for (const name of names) {
        nodes[name] = blob.get(name);
        if (nodes[name]?.length !== blob.get('parent').length) throw new PageError(kDamaged);
      }
      if (nodes.parent.some((parent, i) => parent > i)) throw new PageError(kDamaged);
      nodes.name = Array.from(nodes.name, (id) => texts[id] ?? '');
      return nodes;
    });
  }

  // Whether the page has a table of this name.
  /** @param {string} name */
  hasTable(name) {
    return this.manifest.tables.some((table) => table.name === name);
  }

  // Whether a view is there: no gap says that it is missing.
  /** @param {string} view */
  has(view) {
    return !this.manifest.gaps.some((gap) => gap.view === view);
  }
}

// Checks what the views rely on.
/** @param {any} manifest @param {(blob: number) => string | null} blobText */
export function pageOf(manifest, blobText) {
  if (!manifest || typeof manifest !== 'object') throw new PageError(kDamaged);
  if (manifest.schema !== 'tracelens.page/1')
    throw new PageError('This page was written by another version of tracelens than its own reader.');
  for (const list of [
    'source',
    'groups',
    'strips',
    'classes',
    'gaps',
    'left_out',
    'tables',
    'lanes',
    'histograms',
    'blobs',
  ])
    if (!Array.isArray((manifest[list] ??= []))) throw new PageError(kDamaged);
  const isCount = (n) => Number.isSafeInteger(n) && n >= 0;
  const isBlob = (n) => isCount(n) && n < manifest.blobs.length;
  for (const table of manifest.tables)
    if (
      typeof table?.name !== 'string' ||
      !isCount(table.rows) ||
      !isCount(table.kept) ||
      !isBlob(table.blob) ||
      !Array.isArray((table.first ??= []))
    )
      throw new PageError(kDamaged);
  for (const lane of manifest.lanes)
    if (!isBlob(lane?.blob) || !isCount(lane.slices) || !isCount(lane.runs)) throw new PageError(kDamaged);
  for (const blob of ['ops_blob', 'nodes_blob']) if (!isBlob(manifest[blob])) manifest[blob] = -1;
  return new Page(manifest, blobText);
}

/** The page this program stands in. Throws PageError. */
export function openPage() {
  if (!kInflater) throw new PageError('This browser is too old to unpack the page: please use one from 2023 or later.');
  const text = (id) => document.getElementById(id)?.textContent ?? null;
  let manifest = null;
  try {
    manifest = JSON.parse(text('tl-manifest') ?? '');
  } catch {
    throw new PageError(kDamaged);
  }
  return pageOf(manifest, (blob) => text('tl-b' + blob));
}
