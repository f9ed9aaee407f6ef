// picture.js: what every picture needs: colours of the theme, a sharp canvas, a tip at the pointer, controls.
import {el} from './dom.js';
import {tableOf} from './data.js';
import {hashOf} from './route.js';
import {dataTable} from './table.js';
import {workName} from './text.js';

/** '#2f7ed8' or 'rgb(47, 126, 216)' @param {string} colour @returns {number[]} */
export function colourParts(colour) {
  if (/^#...$/.test(colour)) colour = colour.replace(/\w/g, '$&$&');
  if (colour.startsWith('#')) return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) || 0);
  const parts = (colour.match(/[\d.]+/g) || []).slice(0, 3).map(Number);
  return parts.length === 3 ? parts : [128, 128, 128];
}

/** As a pixel of an ImageData, little endian. @param {string} colour */
export function colourNumber(colour) {
  const [red, green, blue] = colourParts(colour);
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

/** @param {string} colour @param {string} other @param {number} share of the other */
export function mixColour(colour, other, share) {
  const to = colourParts(other);
  return `rgb(${colourParts(colour)
    .map((part, i) => Math.round(part + (to[i] - part) * share))
    .join(', ')})`;
}

/** As WCAG defines it. @param {string} colour */
function luminanceOf(colour) {
  const [red, green, blue] = colourParts(colour).map((part) =>
    part <= 10 ? part / 3295 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {string} a @param {string} b */
export function contrastOf(a, b) {
  const [low, high] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** The colour, moved away from the paper until it can be seen on it (3:1). @param {string} colour @param {string} paper */
export function legible(colour, paper) {
  const away = luminanceOf(paper) > 0.4 ? '#000000' : '#ffffff';
  let shown = mixColour(colour, away, 0);
  for (let share = 0.08; contrastOf(shown, paper) < 3.05 && share < 1; share += 0.08)
    shown = mixColour(colour, away, share);
  return shown;
}

/** Black or white: which reads better on it. @param {string} colour */
export function inkOn(colour) {
  return contrastOf(colour, '#000000') > contrastOf(colour, '#ffffff') ? '#000000' : '#ffffff';
}

/** The colours of the theme at an element; canvases do not follow it by themselves. @param {Element} element */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const asked = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  const ink = style.color,
    paper = /,\s*0\)$/.test(style.backgroundColor) ? asked('--paper', '#ffffff') : style.backgroundColor;
  return {
    ink,
    paper,
    accent: asked('--accent', ink),
    muted: mixColour(ink, paper, 0.35),
    rule: mixColour(ink, paper, 0.85),
    forced: matchMedia('(forced-colors: active)').matches,
  };
}

/** Zoom jumps for those who asked for less motion. */
export function wantsMotion() {
  return !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** The canvas in pixels of the screen, drawn in CSS pixels. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function fitCanvas(canvas, width, height) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const wide = Math.max(1, Math.round(width * ratio)),
    high = Math.max(1, Math.round(height * ratio));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  } else {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, wide, high);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {context, ratio};
}

/** @type {Set<{element: Element, view: Element | null, draw: () => void, sizes: ResizeObserver}>} */
const drawnPictures = new Set();
let watchesThemes = false;

/** Draws, and draws again when size or theme change, until its view is left. @param {Element} element @param {() => void} draw */
export function keepDrawn(element, draw) {
  if (!watchesThemes) {
    const all = () => {
      for (const {element: one, draw: again} of drawnPictures) if (one.isConnected) again();
    };
    new MutationObserver(all).observe(document.documentElement, {attributes: true});
    matchMedia('(forced-colors: active)').addEventListener('change', all);
    watchesThemes = true;
  }
  for (const picture of drawnPictures) {
    if (!picture.view || picture.view.isConnected) continue;
    picture.sizes.disconnect();
    drawnPictures.delete(picture);
  }
  let width = -1;
  const sizes = new ResizeObserver(() => {
    if (!element.isConnected || element.clientWidth === width) return; // its table may stand in its place
    kept.view ??= element.closest('.view');
    width = element.clientWidth;
    draw();
  });
  const kept = {element, view: /** @type {Element | null} */ (null), draw, sizes};
  drawnPictures.add(kept);
  sizes.observe(element);
}

/** @type {HTMLElement | null} */
let pictureTip = null;

/** A few lines beside the pointer. @param {{clientX: number, clientY: number}} at @param {(string | null)[]} lines */
export function showTip(at, ...lines) {
  if (!pictureTip?.isConnected)
    document.body.append((pictureTip = el('div', {class: 'tip', 'aria-hidden': 'true', dir: 'ltr'})));
  const tip = /** @type {HTMLElement} */ (pictureTip);
  tip.replaceChildren(...lines.filter((line) => line).map((line) => el('div', {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, at.clientX + 14 + box.width > innerWidth ? at.clientX - 12 - box.width : at.clientX + 14)}px`;
  tip.style.top = `${Math.max(4, at.clientY + 18 + box.height > innerHeight ? at.clientY - 12 - box.height : at.clientY + 18)}px`;
}

export function hideTip() {
  if (pictureTip) pictureTip.hidden = true;
}

/** A labelled list to choose from. @param {string} label @param {[string, string][]} options value and text @param {string} value @param {(value: string) => void} onchange */
export function choice(label, options, value, onchange) {
  const list = el(
    'select',
    {'aria-label': label, onchange: () => onchange(list.value)},
    options.map(([key, text]) => el('option', {value: key}, text)),
  );
  list.value = value;
  return el('label', {class: 'choice'}, el('span', {}, label), list);
}

/** A button that is on or off. @param {string} label @param {boolean} isOn @param {(isOn: boolean) => void} onchange @param {Record<string, any>} more */
export function toggle(label, isOn, onchange, more = {}) {
  const chip = el(
    'button',
    {
      type: 'button',
      class: 'button chip',
      'aria-pressed': String(isOn),
      onclick: () => {
        isOn = !isOn;
        chip.setAttribute('aria-pressed', String(isOn));
        onchange(isOn);
      },
      ...more,
    },
    label,
  );
  return chip;
}

/** Kinds of one colour as one: "SDPA" of SDPA_fwd and SDPA_bwd, else all their names. @param {{name: string, colour: string, hatched?: boolean}[]} classes */
export function mergedClasses(classes) {
  /** @type {Map<string, any[]>} */
  const looks = new Map();
  for (const kind of classes) {
    const look = `${kind.colour} ${!!kind.hatched}`;
    looks.set(look, [...(looks.get(look) ?? []), kind]);
  }
  const stem = ({name}) => name.replace(/_(fwd|bwd)$/, '');
  return [...looks.values()].map((alike) =>
    alike.length === 1 ? alike[0] : {...alike[0], name: [...new Set(alike.map(stem))].join(', ')},
  );
}

/** What the colours mean. @param {{name: string, colour: string, hatched?: boolean}[]} classes @param {string} paper */
export function legend(classes, paper) {
  return el(
    'ul',
    {class: 'legend'},
    mergedClasses(classes).map((kind) =>
      el(
        'li',
        {},
        el('span', {
          class: kind.hatched ? 'swatch hatched' : 'swatch',
          style: {backgroundColor: legible(kind.colour, paper)},
        }),
        kind.name,
      ),
    ),
  );
}

/** The class of work that a category of ops belongs to. @param {{name: string}[]} classes @param {string} category */
export function classOf(classes, category) {
  const stem = (name) =>
    workName(name)
      .toLowerCase()
      .replace(/[_ ]?(fwd|bwd|forward|backward)$/, '');
  const at = classes.findIndex((kind) => kind.name === category);
  return at >= 0 ? at : classes.findIndex((kind) => stem(kind.name) === stem(category));
}

/** A table made for a picture: each column as [name, unit, kind, values]. @param {string} name @param {string} description @param {[string, string, number, any[]][]} columns */
export function pictureTable(name, description, columns) {
  return tableOf({
    name,
    description,
    columns: columns.map(([column, unit, kind, values]) => ({name: column, unit, description: '', kind, values})),
  });
}

// Where a table of ops has what the details of a slice show: PyTorch's, and that of HLO ops.
const kFigureColumns = [
  {
    table: 'unified_perf_summary',
    name: 'name',
    flops: 'GFLOPS',
    bytes: 'Data Moved (MB)',
    rate: 'TFLOPS/s_mean',
    bandwidth: 'TB/s_mean',
    roof: 'Pct Roofline_mean',
    kernels: 'kernel_details_summary',
  },
  {
    table: 'hlo_ops',
    name: 'HLO op',
    flops: 'GFLOPS',
    bytes: 'Data Moved (MB)',
    rate: 'TFLOPS/s',
    bandwidth: 'TB/s',
    roof: 'Pct Roofline',
    kernels: '',
  },
  {table: 'ops_unique_args', name: 'name', flops: '', bytes: '', rate: '', bandwidth: '', roof: '', kernels: ''},
];

/** The row of an op with these arguments, in the table that the ops are shown from; -1: none. An op that another one
 * calls has no row of its own where the outer one has the model: that of the kernel it launched, with the same first shape.
 * @param {import('./data.js').Page} page @param {string} name @param {string} shapes @param {string} types @param {string} kernel */
export async function opRow(page, name, shapes, types, kernel = '') {
  const columns = kFigureColumns.find((one) => page.hasTable(one.table)) ?? kFigureColumns[0],
    table = await page.table(columns.table);
  const names = table?.column(columns.name)?.values ?? [],
    dims = table?.column('Input Dims')?.values ?? [],
    kinds = table?.column('Input type')?.values ?? [];
  const bare = columns.table === 'hlo_ops' ? name.split(' (')[0] : name;
  let row = name
    ? names.findIndex(
        (one, at) => one === bare && (!dims.length || ((dims[at] ?? '') === shapes && (kinds[at] ?? '') === types)),
      )
    : -1;
  if (row < 0 && name && kernel && columns.kernels) {
    const quoted = `'${kernel}'`,
      first = firstShape(shapes),
      launchers = (table?.column(columns.kernels)?.values ?? [])
        .map((cell, at) => (cell?.includes(quoted) ? at : -1))
        .filter((at) => at >= 0),
      alike = launchers.filter((at) => firstShape(dims[at] ?? '') === first);
    row = alike.length === 1 ? alike[0] : launchers.length === 1 ? launchers[0] : -1;
  }
  return {
    table,
    row,
    columns,
    hash: table && row >= 0 ? hashOf('ops', '', [['row', table.key(row)]]) : hashOf('ops', '', [['f', bare]]),
  };
}

/** "(8, 1024, 768)" of "((8, 1024, 768), (768,))" @param {string} shapes */
function firstShape(shapes) {
  return /\(([^()]+)\)/.exec(shapes)?.[0] ?? '';
}

/** The cells of a column; none where table or column are missing. @param {import('./data.js').TableData | null} table @param {string} column @returns {any[]} */
export function cellsOf(table, column) {
  return table?.column(column)?.values ?? [];
}

/** Tables that have rows, each below its title. @param {HTMLElement} into @param {[import('./data.js').TableData | null, string][]} tables */
export function appendTables(into, tables) {
  for (const [table, title] of tables) if (table?.rows) into.append(el('h2', {}, title), dataTable({table}));
}
