// lanes.js: slices of a lane as pixels. Index, coverage, painting, hit test, gaps, sums of a selection.
// A frame must not cost one drawing call per slice: slices are added up per pixel and class, and each
// column of pixels is painted once, into one ImageData per lane.
import {colourNumber, fitCanvas, inkOn, legible, mixColour} from './picture.js';
import {time, visible} from './text.js';

/**
 * @typedef {{start: Float64Array, length: Float64Array, busy: Float64Array, count: Float64Array, longest: Float64Array,
 *   name: Uint32Array, class: Uint8Array, row: Uint8Array}} LaneRuns
 * @typedef {{start: Float64Array, duration: Float64Array, name: Uint32Array, class: Uint8Array, row: Uint8Array,
 *   op: Uint32Array, module: Uint32Array, latency: Float64Array, event: Float64Array, runs: LaneRuns, meta: any}} Lane
 * @typedef {{names: Uint8Array, ops: Uint8Array}} Wanted a flag for each name, and for each op (of the first: without an op)
 * @typedef {{from: number, to: number, runFrom: number, runTo: number}} LaneRow
 * @typedef {{lane: Lane, place: number, isRun: boolean}} LaneHit
 * @typedef {{start: number, end: number}} LaneGap
 * @typedef {{count: number, sum: number, least: number, most: number, class: number}} LaneSum
 * @typedef {{colours: Uint32Array, lines: Uint32Array, css: string[], inks: string[], hatched: boolean[], outline: number, ink: string, accent: string, muted: string}} LaneLook
 */

const laneRowsKept = new WeakMap();

/** Where each row of a lane begins and ends: slices and runs stand by row, then by start.
 * @param {Lane} lane @returns {LaneRow[]} */
export function laneRows(lane) {
  const kept = laneRowsKept.get(lane);
  if (kept) return kept;
  const rows = [];
  let from = 0,
    runFrom = 0;
  for (let row = 0; row < Math.max(1, lane.meta.rows); ++row) {
    let to = from,
      runTo = runFrom;
    while (to < lane.row.length && lane.row[to] === row) ++to;
    while (runTo < lane.runs.row.length && lane.runs.row[runTo] === row) ++runTo;
    rows.push({from, to, runFrom, runTo});
    from = to;
    runFrom = runTo;
  }
  laneRowsKept.set(lane, rows);
  return rows;
}

/** The first place of [from, to) that ends after `moment`; slices of a row do not overlap.
 * @param {Float64Array} start @param {Float64Array} length @param {number} from @param {number} to @param {number} moment */
export function firstAfter(start, length, from, to, moment) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (start[middle] + length[middle] > moment) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** By its name, or as work of an op. @param {Lane} lane @param {number} place @param {Wanted} wanted */
export function isWanted(lane, place, wanted) {
  return wanted.names[lane.name[place]] !== 0 || wanted.ops[lane.op[place]] !== 0;
}

/** Adds a row's slices and runs to `cover`: how much of each pixel each class fills. What is not
 * wanted counts as class + classes, which is painted faded. `edges` marks the last pixel of wide slices.
 * @param {Lane} lane @param {LaneRow} row @param {number} t0 @param {number} t1 @param {number} width @param {number} classes
 * @param {Float32Array} cover @param {Uint8Array} edges @param {Wanted | null} wanted */
export function coverRow(lane, row, t0, t1, width, classes, cover, edges, wanted) {
  const banks = wanted ? 2 * classes : classes,
    scale = width / (t1 - t0);
  const {start, duration, class: kinds, runs} = lane;
  for (let i = firstAfter(start, duration, row.from, row.to, t0), to = row.to; i < to; ++i) {
    const from = start[i];
    if (from >= t1) break;
    const bank = wanted !== null && !isWanted(lane, i, wanted) ? kinds[i] + classes : kinds[i],
      length = duration[i] * scale;
    let x0 = (from - t0) * scale,
      x1 = x0 + length;
    if (length < 2) {
      addCover(cover, banks, bank, x0 < 0 ? 0 : x0, x1 > width ? width : x1, 1, width);
      continue;
    }
    x0 = Math.max(0, Math.round(x0)); // whole pixels: a slice that can be seen has sharp edges
    x1 = Math.min(width, Math.round(x1));
    if (x1 - x0 >= 4) edges[x1 - 1] = 1;
    for (let x = x0; x < x1; ++x) cover[x * banks + bank] += 1;
  }
  for (
    let i = firstAfter(runs.start, runs.length, row.runFrom, row.runTo, t0);
    i < row.runTo && runs.start[i] < t1;
    ++i
  ) {
    const bank = runs.class[i] + (wanted && !wanted.names[runs.name[i]] ? classes : 0);
    const x0 = (runs.start[i] - t0) * scale,
      x1 = x0 + runs.length[i] * scale;
    addCover(
      cover,
      banks,
      bank,
      Math.max(0, x0),
      Math.min(width, x1),
      runs.busy[i] / Math.max(1, runs.length[i]),
      width,
    );
  }
}

/** @param {Float32Array} cover @param {number} banks @param {number} bank @param {number} x0 @param {number} x1 @param {number} height @param {number} width */
function addCover(cover, banks, bank, x0, x1, height, width) {
  const first = Math.min(width - 1, x0 | 0),
    last = Math.min(width - 1, x1 | 0);
  if (first === last) {
    cover[first * banks + bank] += (x1 - x0) * height + 1e-6; // what lasts no time still shows
    return;
  }
  cover[first * banks + bank] += (first + 1 - x0) * height;
  for (let x = first + 1; x < last; ++x) cover[x * banks + bank] += height;
  cover[last * banks + bank] += (x1 - last) * height;
}

/** Paints a row: each column is filled as high as it is busy, the classes above each other.
 * @param {Uint32Array} pixels @param {number} width @param {number} top @param {number} height @param {Float32Array} cover
 * @param {Uint8Array} edges @param {number} banks @param {number} classes @param {LaneLook} look */
function paintRow(pixels, width, top, height, cover, edges, banks, classes, look) {
  const bottom = top + height,
    least = Math.max(2, Math.round(height / 5));
  for (let x = 0; x < width; ++x) {
    const base = x * banks;
    let total = 0;
    for (let bank = 0; bank < banks; ++bank) total += cover[base + bank];
    if (total === 0) continue;
    const filled = total >= 0.999 ? height : Math.max(least, Math.round(total * height));
    let sum = 0,
      y = bottom,
      isHit = false;
    for (let bank = 0; bank < banks; ++bank) {
      const part = cover[base + bank];
      if (part === 0) continue;
      sum += part;
      if (bank < classes) isHit = banks > classes;
      const until = bottom - Math.round((sum / total) * filled);
      // A separating line at the end of a slice, and the hatch, are the same lighter colour.
      const colour = (edges[x] ? look.lines : look.colours)[bank],
        line = look.lines[bank],
        hatched = look.hatched[bank % classes];
      while (y > until) {
        --y;
        pixels[y * width + x] = hatched && (x + y) % 7 < 2 ? line : colour;
      }
    }
    if (isHit) {
      // what is searched for is outlined
      const outline = look.outline;
      for (y = 0; y < 2; ++y) pixels[(top + y) * width + x] = pixels[(bottom - 1 - y) * width + x] = outline;
    }
  }
}

/** What is fixed while theme and page stay: colours as numbers of a pixel, and as texts.
 * @param {{name: string, colour: string, hatched: boolean}[]} classes @param {{ink: string, paper: string, accent: string, muted: string, forced: boolean}} theme
 * @returns {LaneLook} */
export function laneLook(classes, theme) {
  const css = classes.map((kind) => (theme.forced ? theme.ink : legible(kind.colour, theme.paper)));
  const faded = css.map((colour) => mixColour(colour, theme.paper, 0.75));
  const lines = css.map((colour) => mixColour(colour, theme.paper, 0.5));
  return {
    colours: Uint32Array.from([...css, ...faded], colourNumber),
    lines: Uint32Array.from([...lines, ...faded], colourNumber),
    css,
    inks: css.map(inkOn),
    hatched: classes.map((kind) => kind.hatched),
    outline: colourNumber(theme.ink),
    ink: theme.ink,
    accent: theme.accent,
    muted: theme.muted,
  };
}

/** What a slice is called where there is little room: without return type, name spaces and template arguments.
 * @param {string} name */
export function sliceLabel(name) {
  const text = name.slice(0, 400).replace(/^(void |nn\.Module: )/, ''),
    until = text.search(/[<(]/);
  if (until <= 0) return visible(text);
  const stem = text.slice(0, until).trim(),
    space = stem.lastIndexOf('::');
  return visible(space < 0 ? stem : stem.slice(space + 2));
}

const laneScratch = {cover: new Float32Array(0), edges: new Uint8Array(0)};
const laneImages = new WeakMap();

/** Draws one lane. `rowHeight` in CSS pixels; gaps are labelled where there is room.
 * @param {HTMLCanvasElement} canvas @param {Lane} lane
 * @param {{t0: number, t1: number, width: number, rowHeight: number, look: LaneLook, texts: string[], wanted?: Wanted | null, gaps?: LaneGap[], plain?: boolean}} view */
export function drawLane(canvas, lane, view) {
  const rows = laneRows(lane),
    {t0, t1, look, wanted = null} = view,
    classes = look.css.length;
  const {context, ratio} = fitCanvas(canvas, view.width, rows.length * view.rowHeight);
  const width = canvas.width,
    banks = wanted ? 2 * classes : classes;
  let image = laneImages.get(canvas);
  if (!image || image.width !== width || image.height !== canvas.height) {
    image = context.createImageData(width, canvas.height);
    laneImages.set(canvas, image);
  }
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(0);
  if (laneScratch.cover.length < width * banks) laneScratch.cover = new Float32Array(width * banks);
  if (laneScratch.edges.length < width) laneScratch.edges = new Uint8Array(width);
  const {cover, edges} = laneScratch;
  const high = Math.max(3, Math.round((view.rowHeight - 2) * ratio));
  rows.forEach((row, number) => {
    cover.fill(0, 0, width * banks);
    edges.fill(0, 0, width);
    coverRow(lane, row, t0, t1, width, classes, cover, edges, wanted);
    paintRow(
      pixels,
      width,
      Math.round((number * view.rowHeight + 1) * ratio),
      high,
      cover,
      edges,
      banks,
      classes,
      look,
    );
  });
  context.putImageData(image, 0, 0);
  if (!view.plain && view.rowHeight >= 14) drawLabels(context, lane, rows, view);
  if (view.gaps) drawGaps(context, view);
}

/** @param {CanvasRenderingContext2D} context @param {Lane} lane @param {LaneRow[]} rows @param {any} view */
function drawLabels(context, lane, rows, view) {
  const {t0, t1, look, width, wanted} = view,
    scale = width / (t1 - t0),
    least = 40 / scale;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  rows.forEach((row, number) => {
    const y = (number + 0.5) * view.rowHeight + 0.5;
    let drawn = 0;
    for (let i = firstAfter(lane.start, lane.duration, row.from, row.to, t0); i < row.to && lane.start[i] < t1; ++i) {
      if (lane.duration[i] < least) continue;
      const x0 = Math.max(0, (lane.start[i] - t0) * scale),
        x1 = Math.min(width, (lane.start[i] + lane.duration[i] - t0) * scale);
      if (x1 - x0 < 40 || ++drawn > 200) continue;
      const room = Math.floor((x1 - x0 - 8) / 6.1),
        label = sliceLabel(view.texts[lane.name[i]]);
      const isFaded = wanted && !isWanted(lane, i, wanted);
      const shown = label.length > room ? label.slice(0, Math.max(1, room - 1)) + '…' : label;
      if (look.hatched[lane.class[i]] && !isFaded) {
        // a plate, so that the hatch does not run through the letters
        context.fillStyle = look.css[lane.class[i]];
        context.fillRect(x0 + 2, y - 7, Math.min(x1 - x0 - 4, context.measureText(shown).width + 5), 13);
      }
      context.fillStyle = isFaded ? look.muted : look.inks[lane.class[i]];
      context.fillText(shown, x0 + 4, y, x1 - x0 - 6);
    }
  });
}

/** @param {CanvasRenderingContext2D} context @param {any} view */
function drawGaps(context, view) {
  const {t0, t1, width, look} = view,
    scale = width / (t1 - t0),
    y = view.rowHeight / 2;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.strokeStyle = context.fillStyle = look.muted;
  for (const gap of view.gaps) {
    const x0 = Math.max(0, (gap.start - t0) * scale),
      x1 = Math.min(width, (gap.end - t0) * scale),
      room = x1 - x0;
    if (room < 6) continue;
    const label = room > 76 ? `idle ${time(gap.end - gap.start)}` : room > 46 ? time(gap.end - gap.start) : '';
    const text = label ? context.measureText(label).width : 0,
      middle = (x0 + x1) / 2;
    context.beginPath();
    context.moveTo(x0 + 2, y);
    context.lineTo(label ? middle - text / 2 - 3 : x1 - 2, y);
    if (label) context.moveTo(middle + text / 2 + 3, y);
    context.lineTo(x1 - 2, y);
    context.globalAlpha = 0.45;
    context.stroke();
    context.globalAlpha = 1;
    if (label) context.fillText(label, middle - text / 2, y + 0.5);
  }
}

/** What is at `moment` in a row: of the slices within `reach` the longest, else the run; or null.
 * @param {Lane} lane @param {number} row @param {number} moment @param {number} reach @returns {LaneHit | null} */
export function hitLane(lane, row, moment, reach) {
  const place = laneRows(lane)[row];
  if (!place) return null;
  let best = -1,
    distance = Infinity;
  for (
    let i = firstAfter(lane.start, lane.duration, place.from, place.to, moment - reach - 1), tried = 0;
    i < place.to && lane.start[i] <= moment + reach && tried < 5000;
    ++i, ++tried
  ) {
    const away = Math.max(0, lane.start[i] - moment, moment - lane.start[i] - lane.duration[i]);
    if (away < distance || (away === distance && lane.duration[i] > lane.duration[best])) {
      best = i;
      distance = away;
    }
  }
  const {runs} = lane;
  const run = firstAfter(runs.start, runs.length, place.runFrom, place.runTo, moment);
  const inRun = run < place.runTo && runs.start[run] <= moment;
  if (inRun && distance > 0) return {lane, place: run, isRun: true};
  return best >= 0 ? {lane, place: best, isRun: false} : null;
}

/** Visits slices and runs of lanes that touch [t0, t1), by start.
 * @param {Lane[]} lanes @param {number} t0 @param {number} t1
 * @param {(start: number, end: number, lane: Lane, place: number, isRun: boolean) => void} visit */
export function inOrder(lanes, t0, t1, visit) {
  /** @type {{lane: Lane, at: number, to: number, isRun: boolean, start: Float64Array, length: Float64Array}[]} */
  const queues = [];
  const add = (lane, isRun, start, length, from, to) => {
    const at = firstAfter(start, length, from, to, t0);
    if (at < to && start[at] < t1) queues.push({lane, at, to, isRun, start, length});
  };
  for (const lane of lanes) {
    for (const row of laneRows(lane)) {
      add(lane, false, lane.start, lane.duration, row.from, row.to);
      add(lane, true, lane.runs.start, lane.runs.length, row.runFrom, row.runTo);
    }
  }
  while (queues.length > 0) {
    let next = 0;
    for (let q = 1; q < queues.length; ++q)
      if (queues[q].start[queues[q].at] < queues[next].start[queues[next].at]) next = q;
    const queue = queues[next],
      {at, start} = queue;
    visit(start[at], start[at] + queue.length[at], queue.lane, at, queue.isRun);
    if (++queue.at >= queue.to || start[queue.at] >= t1) queues.splice(next, 1);
  }
}

/** When none of the lanes works, between their first and last event. @param {Lane[]} lanes @returns {LaneGap[]} */
export function gapsOf(lanes) {
  /** @type {LaneGap[]} */
  const gaps = [];
  let end = NaN;
  inOrder(lanes, -Infinity, Infinity, (from, to) => {
    if (from > end) gaps.push({start: end, end: from});
    if (!(to <= end)) end = to;
  });
  return gaps;
}

/** Of gaps by start those in [t0, t1) of at least `least`. @param {LaneGap[]} gaps @param {number} t0 @param {number} t1 @param {number} least @returns {LaneGap[]} */
export function gapsWithin(gaps, t0, t1, least) {
  let from = 0,
    to = gaps.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (gaps[middle].end > t0) to = middle;
    else from = middle + 1;
  }
  const found = [];
  for (; from < gaps.length && gaps[from].start < t1; ++from)
    if (gaps[from].end - gaps[from].start >= least) found.push(gaps[from]);
  return found;
}

/** The GPU a lane belongs to. @param {{group: number, id: string}} meta */
export function deviceOf(meta) {
  return `${meta.group}/${meta.id.split(':').slice(-3, -1).join(':')}`;
}

/** What the GPU lanes did in [t0, t1). Shares are of the time of all devices; slices that the edge cuts count whole
 * in the figures per name. `merged` is what lies in runs, whose names are not known one by one.
 * @param {Lane[]} lanes @param {number} t0 @param {number} t1 @param {(kind: number) => boolean} isCommunication */
export function sumSelection(lanes, t0, t1, isCommunication) {
  /** @type {Map<string, Lane[]>} */
  const devices = new Map();
  for (const lane of lanes) devices.set(deviceOf(lane.meta), [...(devices.get(deviceOf(lane.meta)) || []), lane]);
  /** @type {Map<number, LaneSum>} */
  const names = new Map();
  const merged = {busy: 0, count: 0};
  let busy = 0,
    communicating = 0,
    cut = 0;
  for (const streams of devices.values()) {
    let end = t0,
      communicated = t0;
    inOrder(streams, t0, t1, (start, stop, lane, place, isRun) => {
      const from = Math.max(t0, start),
        to = Math.min(t1, stop);
      if (isRun) {
        const share = (to - from) / Math.max(1, stop - start);
        merged.busy += lane.runs.busy[place] * share;
        merged.count += Math.round(lane.runs.count[place] * share);
        if (isCommunication(lane.runs.class[place])) communicating += lane.runs.busy[place] * share;
        return;
      }
      busy += Math.max(0, to - Math.max(end, from));
      end = Math.max(end, to);
      if (isCommunication(lane.class[place])) {
        communicating += Math.max(0, to - Math.max(communicated, from));
        communicated = Math.max(communicated, to);
      }
      if (start < t0 || stop > t1) ++cut;
      const length = stop - start,
        sum = names.get(lane.name[place]);
      if (!sum)
        names.set(lane.name[place], {count: 1, sum: length, least: length, most: length, class: lane.class[place]});
      else {
        ++sum.count;
        sum.sum += length;
        sum.least = Math.min(sum.least, length);
        sum.most = Math.max(sum.most, length);
      }
    });
  }
  const length = (t1 - t0) * Math.max(1, devices.size);
  busy = Math.min(length, busy + merged.busy);
  return {
    length: t1 - t0,
    devices: devices.size,
    busy,
    idle: length - busy,
    communicating,
    cut,
    merged,
    busyPercent: (100 * busy) / length,
    idlePercent: 100 - (100 * busy) / length,
    communicatingPercent: (100 * communicating) / length,
    names,
  };
}
