// view_timeline.js: what ran when, on every stream and thread. One canvas per lane, one layer above them for
// the pointer, the keyboard and what is selected.
import {scaleOf, timeTicks} from './axes.js';
import {button, clear, el, svgEl, traceText} from './dom.js';
import {
  deviceOf,
  drawLane,
  firstAfter,
  gapsOf,
  gapsWithin,
  hitLane,
  inOrder,
  isWanted,
  laneLook,
  laneRows,
  sumSelection,
} from './lanes.js';
import {closeDrawer, detailList, openDrawer} from './drawer.js';
import {
  cellsOf,
  choice,
  fitCanvas,
  hideTip,
  keepDrawn,
  legend,
  opRow,
  pictureTable,
  showTip,
  themeOf,
  wantsMotion,
} from './picture.js';
import {go, hashOf, say, state} from './route.js';
import {copyText, dataTable, pictureWithTable} from './table.js';
import {rowBefore} from './view_memory.js';
import {
  bytes,
  count,
  exactTime,
  humanNumber,
  percent,
  shapesText,
  shortName,
  time,
  typesText,
  visible,
} from './text.js';

/** @typedef {import('./lanes.js').Lane} Lane @typedef {import('./lanes.js').LaneHit} LaneHit */
/** @typedef {{lane: Lane, canvas: HTMLCanvasElement, box: HTMLElement, rowHeight: number, gaps: import('./lanes.js').LaneGap[] | null, longGaps: import('./lanes.js').LaneGap[]}} LaneBox */

const kTimelineLeast = 100; // ns in view
const kTimelineRowHeights = /** @type {Record<string, number>} */ ({
  steps: 18,
  gpu: 30,
  modules: 16,
  ops: 18,
  calls: 16,
});

/** @param {Lane} lane */
function rowHeightOf(lane) {
  return lane.meta.kind === 'gpu' && lane.meta.rows > 1 ? 20 : (kTimelineRowHeights[lane.meta.kind] ?? 18);
}

/** Which classes are neither copies nor fills. @param {{name: string}} kind */
export function isKernelClass(kind) {
  return kind.name !== 'copy' && kind.name !== 'fill';
}

/** @param {{name: string}} kind */
export function isCommunicationClass(kind) {
  return kind.name === 'communication';
}

/** The window [t0, t1] inside [0, span], not shorter than the least. @param {number} t0 @param {number} t1 @param {number} span @returns {[number, number]} */
export function clampWindow(t0, t1, span) {
  const length = Math.min(Math.max(span, kTimelineLeast), Math.max(kTimelineLeast, t1 - t0));
  const from = Math.min(Math.max(0, span - length), Math.max(0, (t0 + t1 - length) / 2));
  return [from, from + length];
}

/** Of "12400000-13100000". @param {string | null} text @param {number} span @returns {[number, number] | null} */
export function parseWindow(text, span) {
  const found = /^(\d+)-(\d+)$/.exec(text ?? '');
  return found && +found[1] < +found[2] && +found[1] < span ? clampWindow(+found[1], +found[2], span) : null;
}

/** A word a shell takes as it is. @param {string} text */
export function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/** Which names hold all the words. @param {string[]} texts @param {string} words */
export function wantedNames(texts, words) {
  const asked = words.toLowerCase().split(/\s+/).filter(Boolean);
  return Uint8Array.from(
    texts,
    /** @param {any} text */ (text) =>
      asked.length && asked.every((word) => text.toLowerCase().includes(word)) ? 1 : 0,
  );
}

/** The whole view while it is shown. */
class Timeline {
  /** @param {any} page @param {string[]} texts @param {Lane[]} lanes @param {any} ops @param {any} nodes @param {import('./data.js').TableData | null} memory */
  constructor(page, texts, lanes, ops, nodes, memory) {
    this.page = page;
    this.texts = texts;
    this.ops = ops;
    this.nodes = nodes;
    this.lanes = lanes;
    this.manifest = page.manifest;
    this.span = Math.max(1, page.manifest.span_ns);
    // Memory of the first device, below the lanes.
    const device = cellsOf(memory, 'device')[0],
      rows = cellsOf(memory, 'device')
        .map((one, row) => (one === device ? row : -1))
        .filter((row) => row >= 0);
    this.memory =
      rows.length > 1
        ? {
            device,
            times: rows.map((row) => cellsOf(memory, 'ts_ms')[row] * 1e6),
            values: rows.map((row) => cellsOf(memory, 'allocated_mb')[row]),
          }
        : null;
    [this.t0, this.t1] = [0, this.span];
    /** @type {LaneHit | null} */
    this.selected = null;
    /** @type {number[] | null} */
    this.range = null;
    /** @type {import('./lanes.js').Wanted | null} */
    this.wanted = null;
    /** @type {LaneHit[]} */
    this.hits = [];
    this.hitAt = -1;
    /** @type {LaneBox[]} */
    this.boxes = [];
    this.width = 0;
    this.frame = 0;
    this.moving = 0;
    this.stateTimer = 0;
    this.fitted = false;
    /** @type {Map<number, {x: number, y: number}>} */
    this.fingers = new Map();
    this.scrolled = () => this.redraw();
    this.searched = (event) => {
      state.set({q: event.detail});
      this.find(event.detail);
    };
    this.build();
  }

  build() {
    const {manifest} = this;
    /** @type {Map<string, Lane[]>} */
    const devices = new Map();
    for (const lane of this.lanes.filter((one) => one.meta.kind === 'gpu'))
      devices.set(deviceOf(lane.meta), [...(devices.get(deviceOf(lane.meta)) ?? []), lane]);
    this.boxes = this.lanes.map((lane) => {
      const streams = devices.get(deviceOf(lane.meta));
      const canvas = el('canvas', {role: 'img', 'aria-label': this.findingOf(lane)});
      const {meta} = lane;
      const merged =
        meta.merged_below_ns > 0
          ? `slices below ${time(meta.merged_below_ns)} merged: ${time(
              lane.runs.busy.reduce((a, b) => a + b, 0),
            )} of ${time(meta.busy_ns)}`
          : '';
      const box = el(
        'div',
        {class: `lane lane-${meta.kind}`},
        el(
          'div',
          {class: 'lane-title', title: merged || null},
          el('span', {class: 'lane-name', dir: 'ltr'}, visible(shortName(meta.title, 40))),
          el(
            'span',
            {class: 'muted'},
            meta.kind === 'gpu' ? `busy ${time(meta.busy_ns)} of ${time(this.span)}` : `${count(meta.events)} events`,
          ),
          merged && el('span', {class: 'muted lane-merged'}, merged),
        ),
        canvas,
      );
      const gaps = meta.kind === 'gpu' && streams?.[0] === lane ? gapsOf(streams) : null;
      return {
        lane,
        canvas,
        box,
        rowHeight: rowHeightOf(lane),
        gaps,
        longGaps: gaps ? gapsWithin(gaps, 0, this.span, this.span / 3200) : [],
      };
    });
    const steps = this.lanes
      .filter((lane) => lane.meta.kind === 'steps')
      .flatMap((lane) => Array.from({length: Math.min(500, laneRows(lane)[0].to)}, (_, i) => ({lane, i})));
    this.readout = el('output', {class: 'tl-readout digits'});
    this.matches = el('span', {class: 'tl-matches'});
    this.ruler = el('canvas', {class: 'tl-ruler', 'aria-hidden': 'true'});
    this.minimap = el('canvas', {
      role: 'img',
      'aria-label': `The whole run, ${time(this.span)}; drag to move the window`,
    });
    this.window = el('div', {class: 'tl-window'});
    this.outline = el('div', {class: 'tl-outline', hidden: true});
    this.rangeBox = el('div', {class: 'tl-range', hidden: true});
    this.link = svgEl('path', {class: 'tl-link'});
    this.layer = el(
      'div',
      {
        class: 'tl-layer',
        tabindex: '0',
        role: 'application',
        'aria-label':
          'Timeline. w and s zoom, a and d move, comma and point go from slice to slice, arrow keys up and down change the lane, Enter opens details.',
      },
      svgEl('svg', {class: 'tl-links', 'aria-hidden': 'true'}, this.link),
      this.rangeBox,
      this.outline,
    );
    this.panel = el('div', {class: 'tl-panel', 'aria-label': 'Selection', role: 'region', hidden: true});
    const hint = (text, key) => ({title: `${text} (${key})`, 'aria-label': text});
    const bar = el(
      'div',
      {class: 'toolbar'},
      button('−', () => this.zoom(2), hint('Zoom out', 's')),
      button('+', () => this.zoom(0.5), hint('Zoom in', 'w')),
      button('‹', () => this.pan(-0.3), hint('Earlier', 'a')),
      button('›', () => this.pan(0.3), hint('Later', 'd')),
      button('Fit', () => this.fit(), {title: 'Fit the selection; again: everything (f)'}),
      button('Range', () => this.rangeOfSelection(), {
        title: 'Sums over the selected slice, or over what is in view (r)',
      }),
      steps.length
        ? choice(
            'Step',
            [
              ['', 'all'],
              ...steps.map(
                (step, i) =>
                  /** @type {[string, string]} */ ([
                    String(i),
                    (this.manifest.groups[step.lane.meta.group]
                      ? visible(shortName(this.manifest.groups[step.lane.meta.group], 16)) + ': '
                      : '') + visible(shortName(this.texts[step.lane.name[step.i]], 32)),
                  ]),
              ),
            ],
            '',
            (value) => {
              const step = value === '' ? null : steps[+value];
              if (step) this.show(step.lane.start[step.i], step.lane.start[step.i] + step.lane.duration[step.i]);
              else this.show(0, this.span);
            },
          )
        : null,
      this.readout,
      this.matches,
    );
    const groups = manifest.groups;
    const body = el(
      'div',
      {class: 'tl-body'},
      el('div', {class: 'tl-minimap'}, this.minimap, this.window),
      el('div', {class: 'tl-rulerline'}, this.ruler),
      el(
        'div',
        {class: 'tl-lanes'},
        this.boxes.flatMap((box, i) => [
          groups.length > 1 &&
          box.lane.meta.group !== this.boxes[i - 1]?.lane.meta.group &&
          box.lane.meta.title !== groups[box.lane.meta.group]
            ? el('div', {class: 'lane-group', dir: 'ltr'}, visible(groups[box.lane.meta.group] ?? ''))
            : null,
          box.box,
        ]),
        this.memory ? this.memoryLane() : null,
        this.layer,
      ),
    );
    const used = new Set();
    for (const lane of this.lanes) {
      for (const kind of lane.class) used.add(kind);
      for (const kind of lane.runs.class) used.add(kind);
    }
    this.legendPlace = el('div', {});
    this.usedClasses = manifest.classes.filter((_, i) => used.has(i));
    this.element = el(
      'div',
      {class: 'timeline'},
      bar,
      pictureWithTable(body, () => this.table(), 'timeline'),
      this.legendPlace,
      this.panel,
    );
    this.listen();
    const words = state.get('q');
    if (words) this.find(words);
    const asked = parseWindow(state.get('t'), this.span);
    if (asked) [this.t0, this.t1] = asked;
    else {
      [this.t0, this.t1] = this.busyWindow();
      if (state.get('t')) say('The time in this link is not in this page.');
    }
    const range = parseWindow(state.get('range'), this.span),
      link = state.get('sel');
    if (range) this.setRange(range);
    if (link) this.selectLink(link, !asked);
  }

  /** Where GPUs and steps are, when that is a small part of the run: profilers start long before. @returns {[number, number]} */
  busyWindow() {
    let first = this.span,
      last = 0;
    for (const {meta, start, duration, runs} of this.lanes) {
      if (meta.kind !== 'gpu' && meta.kind !== 'steps') continue;
      for (const [starts, lengths] of [
        [start, duration],
        [runs.start, runs.length],
      ])
        for (let i = 0; i < starts.length; ++i) {
          if (starts[i] < first) first = starts[i];
          if (starts[i] + lengths[i] > last) last = starts[i] + lengths[i];
        }
    }
    const length = last - first;
    return length > 0 && length < 0.6 * this.span
      ? clampWindow(first - length / 40, last + length / 40, this.span)
      : [0, this.span];
  }

  /** @param {Lane} lane */
  findingOf({meta}) {
    return meta.kind === 'gpu'
      ? `${visible(meta.title)}: busy ${percent((100 * meta.busy_ns) / this.span)} of ${time(this.span, 4)}, longest gap ${time(meta.longest_gap_ns)}`
      : `${visible(meta.title)}: ${count(meta.events)} events, ${time(meta.busy_ns)}`;
  }

  /** As soon as it stands in the document. */
  start() {
    keepDrawn(this.element, () => {
      const theme = themeOf(this.layer);
      this.look = laneLook(this.manifest.classes, theme);
      this.paper = theme.paper;
      clear(this.legendPlace).append(legend(this.usedClasses, theme.paper));
      this.width = this.layer.clientWidth;
      // Few lanes use the room there is.
      const high = this.boxes.reduce((sum, {lane}) => sum + laneRows(lane).length * rowHeightOf(lane), 0),
        grow = Math.max(1, Math.min(1.8, (innerHeight - 380 - 8 * this.boxes.length) / high));
      for (const box of this.boxes) box.rowHeight = Math.round(rowHeightOf(box.lane) * grow);
      this.drawMinimap();
      this.draw();
    });
    addEventListener('scroll', this.scrolled, {passive: true, capture: true});
    document.addEventListener('tl-search', this.searched);
    if (this.selected) this.openDetails();
  }

  stop() {
    removeEventListener('scroll', this.scrolled, {capture: true});
    document.removeEventListener('tl-search', this.searched);
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.moving);
    clearTimeout(this.stateTimer);
    hideTip();
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.look || this.width < 10 || !this.element.isConnected) return;
    const {t0, t1, width, look, texts, wanted} = this;
    const high = innerHeight,
      least = (t1 - t0) / 200;
    for (const {lane, canvas, rowHeight, gaps, longGaps} of this.boxes) {
      const height = laneRows(lane).length * rowHeight;
      if (canvas.style.height !== `${height}px`) canvas.style.height = `${height}px`;
      const place = canvas.getBoundingClientRect();
      if (place.bottom < 0 || place.top > high) continue;
      drawLane(canvas, lane, {
        t0,
        t1,
        width,
        rowHeight,
        look,
        texts,
        wanted,
        gaps: gaps ? gapsWithin(least >= this.span / 3200 ? longGaps : gaps, t0, t1, least) : undefined,
      });
    }
    this.drawRuler();
    this.drawMemory();
    this.drawMarks();
    const x = scaleOf(0, this.span, 0, 100);
    this.window.style.left = `${x(t0)}%`;
    this.window.style.width = `${Math.max(0.3, x(t1) - x(t0))}%`;
    this.readout.textContent = `${time(t0, 5)} – ${time(t1, 5)} (${time(t1 - t0)})`;
  }

  drawRuler() {
    const {context} = fitCanvas(this.ruler, this.width, 22),
      x = scaleOf(this.t0, this.t1, 0, this.width);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = context.strokeStyle = this.look?.muted ?? '';
    for (const tick of timeTicks(this.t0, this.t1, this.width / 100)) {
      const at = Math.round(x(tick.value)) + 0.5;
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(at, 15);
      context.lineTo(at, 22);
      context.stroke();
      context.globalAlpha = 1;
      const text = context.measureText(tick.label).width;
      context.fillText(tick.label, Math.min(this.width - text, Math.max(0, at - text / 2)), 11);
    }
  }

  memoryLane() {
    const {device, values} = /** @type {any} */ (this.memory),
      most = values.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 0);
    this.memoryCanvas = el('canvas', {
      role: 'img',
      'aria-label': `Memory of ${visible(device)}: at most ${bytes(most * 1e6)}`,
    });
    return el(
      'div',
      {class: 'lane'},
      el(
        'div',
        {class: 'lane-title'},
        el('span', {class: 'lane-name', dir: 'ltr'}, `memory ${visible(device)}`),
        el('span', {class: 'muted'}, `peak ${bytes(most * 1e6)}`),
      ),
      this.memoryCanvas,
    );
  }

  drawMemory() {
    if (!this.memory || !this.memoryCanvas) return;
    const {times, values} = this.memory,
      {context} = fitCanvas(this.memoryCanvas, this.width, 48),
      x = scaleOf(this.t0, this.t1, 0, this.width),
      y = scaleOf(
        0,
        values.reduce((a, b) => Math.max(a, b), 1e-9),
        47,
        4,
      );
    const first = Math.max(0, rowBefore(times, this.t0));
    context.beginPath();
    context.moveTo(x(times[first]), 48);
    for (let row = first; row < times.length && times[row] <= this.t1; ++row) {
      context.lineTo(x(times[row]), y(values[row]));
      context.lineTo(row + 1 < times.length ? Math.min(this.width, x(times[row + 1])) : x(times[row]), y(values[row]));
    }
    context.strokeStyle = context.fillStyle = this.look?.accent ?? '';
    context.stroke();
    context.lineTo(Math.min(this.width, x(times[times.length - 1])), 48);
    context.globalAlpha = 0.2;
    context.fill();
  }

  drawMinimap() {
    const gpu = this.lanes.filter((lane) => lane.meta.kind === 'gpu'),
      shown = (gpu.length ? gpu : this.lanes).slice(0, 4);
    const width = this.minimap.parentElement?.clientWidth ?? 0,
      height = 28 / shown.length;
    const {context} = fitCanvas(this.minimap, width, 28);
    shown.forEach((lane, i) => {
      const canvas = document.createElement('canvas');
      drawLane(
        canvas,
        {...lane, meta: {...lane.meta, rows: 1}},
        {
          t0: 0,
          t1: this.span,
          width,
          rowHeight: height,
          look: /** @type {any} */ (this.look),
          texts: this.texts,
          plain: true,
        },
      );
      context.drawImage(canvas, 0, i * height, width, height);
    });
  }

  /** Outlines of what is selected, above the canvases. */
  drawMarks() {
    const x = scaleOf(this.t0, this.t1, 0, this.width);
    this.rangeBox.hidden = !this.range;
    if (this.range) {
      this.rangeBox.style.left = `${x(this.range[0])}px`;
      this.rangeBox.style.width = `${Math.max(1, x(this.range[1]) - x(this.range[0]))}px`;
    }
    const box = this.selected && this.boxes.find((one) => one.lane === this.selected?.lane);
    this.outline.hidden = !box;
    this.link.setAttribute('d', '');
    if (!box || !this.selected) return;
    const {start, end, row} = this.boundsOf(this.selected),
      top = box.canvas.offsetTop + row * box.rowHeight;
    const left = Math.max(-4, x(start)),
      right = Math.min(this.width + 4, x(end));
    this.outline.hidden = right < 0 || left > this.width;
    Object.assign(this.outline.style, {
      left: `${left - 1}px`,
      width: `${Math.max(3, right - left + 1)}px`,
      top: `${top}px`,
      height: `${box.rowHeight}px`,
    });
    const launch = this.launchOf(this.selected);
    if (!launch) return;
    const from = Math.min(this.width, Math.max(0, x(launch.moment))),
      callTop = launch.box.canvas.offsetTop;
    const below = callTop > top,
      y0 = below ? callTop : callTop + 10,
      y1 = below ? top + box.rowHeight : top;
    if (launch.moment >= this.t0 && launch.moment <= this.t1)
      this.link.setAttribute('d', `M${from} ${y0}C${from} ${(y0 + y1) / 2} ${left} ${(y0 + y1) / 2} ${left} ${y1}`);
  }

  /** @param {LaneHit} hit */
  boundsOf({lane, place, isRun}) {
    const start = isRun ? lane.runs.start[place] : lane.start[place],
      length = isRun ? lane.runs.length[place] : lane.duration[place];
    return {start, end: start + length, row: isRun ? lane.runs.row[place] : lane.row[place]};
  }

  /** The lane of calls that holds the launch of a GPU slice. @param {LaneHit} hit */
  launchOf({lane, place, isRun}) {
    if (isRun || lane.meta.kind !== 'gpu' || lane.latency[place] < 0) return null;
    const moment = lane.start[place] - lane.latency[place];
    for (const box of this.boxes) {
      if (box.lane.meta.kind !== 'calls' || box.lane.meta.group !== lane.meta.group) continue;
      const hit = hitLane(box.lane, 0, moment, 1);
      if (hit) return {box, hit, moment};
    }
    return null;
  }

  /** @param {number} t0 @param {number} t1 */
  show(t0, t1) {
    const to = clampWindow(t0, t1, this.span),
      from = [this.t0, this.t1],
      began = performance.now();
    cancelAnimationFrame(this.moving);
    const step = () => {
      const share = wantsMotion() && this.element.isConnected ? Math.min(1, (performance.now() - began) / 140) : 1,
        eased = 1 - (1 - share) ** 3;
      this.t0 = from[0] + (to[0] - from[0]) * eased;
      this.t1 = from[1] + (to[1] - from[1]) * eased;
      this.draw();
      if (share < 1) this.moving = requestAnimationFrame(step);
    };
    step();
    this.remember(to);
  }

  /** At once, under the pointer. @param {number} t0 @param {number} t1 */
  jump(t0, t1) {
    cancelAnimationFrame(this.moving);
    [this.t0, this.t1] = clampWindow(t0, t1, this.span);
    this.redraw();
    this.remember([this.t0, this.t1]);
  }

  /** Into the address, once it rests. @param {number[]} window */
  remember(/** @type {number[]} */ [t0, t1]) {
    clearTimeout(this.stateTimer);
    this.stateTimer = setTimeout(
      () => state.set({t: t0 <= 0 && t1 >= this.span ? null : `${Math.round(t0)}-${Math.round(t1)}`}),
      150,
    );
  }

  /** @param {number} factor @param {number} about */
  zoom(factor, about = (this.t0 + this.t1) / 2) {
    this.show(about - (about - this.t0) * factor, about + (this.t1 - about) * factor);
  }

  /** @param {number} share */
  pan(share) {
    const by = Math.max(-this.t0, Math.min(this.span - this.t1, share * (this.t1 - this.t0)));
    this.show(this.t0 + by, this.t1 + by);
  }

  fit() {
    const bounds = this.range
      ? {start: this.range[0], end: this.range[1]}
      : this.selected && this.boundsOf(this.selected);
    if (!bounds || this.fitted) this.show(0, this.span);
    else {
      const rest = (bounds.end - bounds.start) * (this.range ? 0 : 1);
      this.show(bounds.start - rest, bounds.end + rest);
    }
    this.fitted = !this.fitted && !!bounds;
  }

  /** @param {LaneHit | null} hit @param {boolean} bringsIn whether it must come into view */
  select(hit, bringsIn = false) {
    this.selected = hit;
    this.fitted = false;
    state.set({sel: hit && !hit.isRun ? `${hit.lane.meta.id}:${hit.lane.event[hit.place]}` : null});
    if (hit) {
      const {start, end} = this.boundsOf(hit),
        length = this.t1 - this.t0;
      if (bringsIn && (end < this.t0 + length * 0.02 || start > this.t1 - length * 0.02))
        this.show((start + end - length) / 2, (start + end + length) / 2);
      const names = hit.isRun ? hit.lane.runs.name : hit.lane.name;
      say(
        `${hit.isRun ? `${count(hit.lane.runs.count[hit.place])} merged slices, mostly ` : ''}${visible(shortName(this.texts[names[hit.place]], 80))}, ${time(end - start)}, ${visible(hit.lane.meta.title)}`,
      );
    }
    this.redraw();
  }

  /** "gpu:0:7:14956" @param {string} link @param {boolean} zooms */
  selectLink(link, zooms) {
    const at = link.lastIndexOf(':'),
      lane = this.lanes.find((one) => one.meta.id === link.slice(0, at));
    const place = lane ? lane.event.indexOf(+link.slice(at + 1)) : -1;
    if (!lane || place < 0) return say('The slice in this link is not in this page.');
    this.selected = {lane, place, isRun: false};
    const {start, end} = this.boundsOf(this.selected),
      around = Math.max(20 * (end - start), 20000);
    if (zooms) [this.t0, this.t1] = clampWindow(start - around, end + around, this.span);
  }

  /** The slice before or after the selected one on its row; from nothing, the first in view. @param {number} by */
  step(by) {
    const hit = this.selected;
    if (!hit || hit.isRun) {
      const lane = hit?.lane ?? this.lanes.find((one) => one.meta.kind === 'gpu') ?? this.lanes[0];
      if (!lane) return;
      const row = laneRows(lane)[0],
        place = firstAfter(
          lane.start,
          lane.duration,
          row.from,
          row.to,
          hit ? this.boundsOf(hit).start : this.t0 + (this.t1 - this.t0) * 0.03,
        );
      return place < row.to ? this.select({lane, place, isRun: false}, true) : undefined;
    }
    const row = laneRows(hit.lane)[hit.lane.row[hit.place]],
      place = hit.place + by;
    if (place >= row.from && place < row.to) this.select({...hit, place}, true);
  }

  /** To the row above or below, at the same moment. @param {number} by */
  stepRow(by) {
    const rows = this.boxes.flatMap(({lane}) => laneRows(lane).map((_, row) => ({lane, row}))),
      from = this.selected;
    const moment = from ? this.boundsOf(from).start : (this.t0 + this.t1) / 2;
    let at = from ? rows.findIndex(({lane, row}) => lane === from.lane && row === this.boundsOf(from).row) : -1;
    for (at += by; at >= 0 && at < rows.length; at += by) {
      const hit = hitLane(rows[at].lane, rows[at].row, moment, this.t1 - this.t0);
      if (hit) return this.select(hit, true);
    }
  }

  rangeOfSelection() {
    if (this.selected) {
      const {start, end} = this.boundsOf(this.selected);
      this.setRange([start, end]);
    } else this.setRange([this.t0, this.t1]);
  }

  /** @param {number[] | null} range */
  setRange(range) {
    this.range = range;
    this.fitted = false;
    state.set({range: range && range.map(Math.round).join('-')});
    this.redraw();
    this.panel.hidden = !range;
    if (range) this.showSums(range);
  }

  /** @param {number[]} range */
  showSums([from, to]) {
    const {classes} = this.manifest,
      gpu = this.lanes.filter((lane) => lane.meta.kind === 'gpu');
    const sum = sumSelection(gpu, from, to, (kind) => isCommunicationClass(classes[kind] ?? {name: ''}));
    const rows = [...sum.names].sort((a, b) => b[1].sum - a[1].sum);
    const kernels = rows.reduce(
      (n, [, one]) => n + (isKernelClass(classes[one.class] ?? {name: ''}) ? one.count : 0),
      0,
    );
    const others = rows.reduce((n, [, one]) => n + one.count, 0) - kernels;
    const figure = (value, label) =>
      el('div', {class: 'stat'}, el('b', {class: 'digits'}, value), el('span', {class: 'muted'}, label));
    const us = (value) => rows.map(([, one]) => value(one) / 1000);
    const table = pictureTable('selection', 'Kernels of the selection', [
      ['kernel', '', 0, rows.map(([name]) => this.texts[name])],
      ['count', '', 1, rows.map(([, one]) => one.count)],
      ['sum', 'µs', 2, us((one) => one.sum)],
      ['mean', 'µs', 2, us((one) => one.sum / one.count)],
      ['least', 'µs', 2, us((one) => one.least)],
      ['most', 'µs', 2, us((one) => one.most)],
    ]);
    clear(this.panel).append(
      el(
        'div',
        {class: 'tl-panelhead'},
        el('h3', {}, `Selection of ${time(to - from)}`),
        button('✕', () => this.setRange(null), {
          class: 'button quiet',
          'aria-label': 'Clear the selection',
          title: 'Clear (Esc)',
        }),
      ),
      el(
        'div',
        {class: 'tl-figures'},
        figure(exactTime(to - from), `from ${exactTime(from)}`),
        figure(percent(sum.busyPercent), `busy, ${exactTime(sum.busy)}`),
        figure(percent(sum.idlePercent), `idle, ${exactTime(sum.idle)}`),
        figure(percent(sum.communicatingPercent), 'communication'),
        figure(count(kernels), others ? `kernels, and ${count(others)} copies and fills` : 'kernels'),
      ),
      el(
        'p',
        {class: 'muted'},
        [
          sum.devices > 1 ? `Shares are of ${sum.devices} GPUs together.` : '',
          sum.cut ? `${count(sum.cut)} slices are cut by the edge and count whole below.` : '',
          sum.merged.count
            ? `About ${time(sum.merged.busy)} in ${count(sum.merged.count)} slices lie in merged runs and are not told by name.`
            : '',
        ]
          .filter(Boolean)
          .join(' '),
      ),
      dataTable({table, caption: 'Kernels of the selection'}),
    );
    say(`Selection of ${time(to - from)}: busy ${percent(sum.busyPercent)}, ${count(kernels)} kernels`);
  }

  /** What has these words in its name, and the work of ops that have them. @param {string} words */
  find(words) {
    const {name, shapes} = this.ops;
    this.highlight(
      words
        ? {
            names: wantedNames(this.texts, words),
            ops: wantedNames(['', ...name.map((op, i) => `${op} ${shapes[i]}`)], words),
          }
        : null,
    );
  }

  /** Outlines what is wanted and fades the rest. @param {import('./lanes.js').Wanted | null} wanted */
  highlight(wanted) {
    this.wanted = wanted;
    this.hits = [];
    this.hitAt = -1;
    let total = 0;
    if (wanted) {
      for (const lane of this.lanes) {
        lane.name.forEach((_, place) => {
          if (!isWanted(lane, place, wanted)) return;
          this.hits.push({lane, place, isRun: false});
          total += lane.duration[place];
        });
      }
      this.hits.sort((a, b) => a.lane.start[a.place] - b.lane.start[b.place]);
    }
    clear(this.matches).append(
      ...(wanted
        ? [
            el('span', {class: 'digits'}, `${count(this.hits.length)} matches, ${time(total)}`),
            button('‹', () => this.walk(-1), {title: 'Previous match (N)', 'aria-label': 'Previous match'}),
            button('›', () => this.walk(1), {title: 'Next match (n)', 'aria-label': 'Next match'}),
            button('✕', () => this.highlight(null), {title: 'Clear (Esc)', 'aria-label': 'Clear the highlighting'}),
          ]
        : []),
    );
    if (!wanted && state.get('q')) state.set({q: null});
    this.redraw();
  }

  /** @param {number} by */
  walk(by) {
    if (!this.hits.length) return;
    this.hitAt =
      this.hitAt < 0
        ? Math.max(
            0,
            this.hits.findIndex((hit) => this.boundsOf(hit).start >= this.t0),
          )
        : (this.hitAt + by + this.hits.length) % this.hits.length;
    this.select(this.hits[this.hitAt], true);
    if (this.matches.firstElementChild)
      this.matches.firstElementChild.textContent = `match ${count(this.hitAt + 1)} of ${count(this.hits.length)}`;
  }

  /** What is below a point of the layer. @param {number} x @param {number} y */
  at(x, y) {
    const moment = this.t0 + (x / this.width) * (this.t1 - this.t0),
      pixel = (this.t1 - this.t0) / this.width;
    const box =
      this.boxes.find(({canvas}) => y >= canvas.offsetTop && y < canvas.offsetTop + canvas.offsetHeight) ?? null;
    const hit = box && hitLane(box.lane, Math.floor((y - box.canvas.offsetTop) / box.rowHeight), moment, 2 * pixel);
    const gap = box?.gaps && !hit ? (gapsWithin(box.gaps, moment, moment + 1, 0)[0] ?? null) : null;
    return {moment, box, hit, gap};
  }

  /** What the host did during most of a gap. @param {import('./lanes.js').LaneGap} gap @param {number} group */
  hostDuring(gap, group) {
    let best = 0,
      name = '';
    for (const kind of ['calls', 'ops', 'modules']) {
      inOrder(
        this.lanes.filter(({meta}) => meta.kind === kind && meta.group === group),
        gap.start,
        gap.end,
        (start, end, lane, place, isRun) => {
          const shared = Math.min(end, gap.end) - Math.max(start, gap.start);
          if (isRun || shared <= best) return;
          best = shared;
          name = this.texts[lane.name[place]];
        },
      );
      if (best > (gap.end - gap.start) / 3) break;
    }
    return best > 0
      ? `host: ${visible(shortName(name, 60))}, ${percent((100 * best) / (gap.end - gap.start))} of it`
      : null;
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const {hit, gap, box} = this.at(event.offsetX, event.offsetY);
    this.layer.classList.toggle('over', !!hit);
    if (!hit)
      return gap && box
        ? showTip(event, `idle ${time(gap.end - gap.start)}`, this.hostDuring(gap, box.lane.meta.group))
        : hideTip();
    const {lane, place} = hit,
      {runs} = lane;
    if (hit.isRun)
      return showTip(
        event,
        `${count(runs.count[place])} slices merged`,
        `busy ${time(runs.busy[place])} of ${time(runs.length[place])}, longest ${time(runs.longest[place])}`,
        `mostly ${visible(shortName(this.texts[runs.name[place]], 80))}`,
      );
    const op = lane.op[place] ? lane.op[place] - 1 : -1;
    showTip(
      event,
      visible(shortName(this.texts[lane.name[place]], 90)),
      `${time(lane.duration[place], 4)} · ${visible(lane.meta.title)}`,
      op >= 0 && lane.meta.kind === 'gpu' ? visible(`${this.ops.name[op]} ${shapesText(this.ops.shapes[op])}`) : null,
    );
  }

  listen() {
    const {layer} = this;
    let began = {x: 0, y: 0, t0: 0, t1: 0, moment: 0, selects: false, moved: false, apart: 0};
    const spread = () => {
      const [a, b] = [...this.fingers.values()];
      return {apart: Math.max(20, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2};
    };
    layer.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      layer.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
      began = {
        x: event.offsetX,
        y: event.offsetY,
        t0: this.t0,
        t1: this.t1,
        moment: this.at(event.offsetX, event.offsetY).moment,
        selects: event.shiftKey,
        moved: false,
        apart: 0,
      };
      if (this.fingers.size === 2) {
        const {apart, middle} = spread();
        Object.assign(began, {apart, moment: this.t0 + (middle / this.width) * (this.t1 - this.t0), moved: true});
      }
    });
    layer.addEventListener('pointermove', (event) => {
      if (!this.fingers.has(event.pointerId)) return event.pointerType === 'touch' ? undefined : this.hover(event);
      this.fingers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
      hideTip();
      if (this.fingers.size === 2 && began.apart) {
        const {apart, middle} = spread(),
          length = ((began.t1 - began.t0) * began.apart) / apart;
        return this.jump(
          began.moment - (middle / this.width) * length,
          began.moment + (1 - middle / this.width) * length,
        );
      }
      if (Math.abs(event.offsetX - began.x) > 3) began.moved = true;
      if (!began.moved) return;
      if (began.selects) {
        const to = began.t0 + (event.offsetX / this.width) * (began.t1 - began.t0);
        this.range = [Math.max(0, Math.min(began.moment, to)), Math.min(this.span, Math.max(began.moment, to))];
        return this.redraw();
      }
      const by = Math.max(
        -began.t0,
        Math.min(this.span - began.t1, ((began.x - event.offsetX) / this.width) * (began.t1 - began.t0)),
      );
      this.jump(began.t0 + by, began.t1 + by);
    });
    const ended = (event) => {
      if (!this.fingers.delete(event.pointerId)) return;
      if (began.selects && began.moved && this.range) return this.setRange(this.range);
      if (began.moved || event.type === 'pointercancel') return;
      const {hit} = this.at(event.offsetX, event.offsetY);
      this.select(hit);
      if (hit) this.openDetails();
      else closeDrawer();
    };
    layer.addEventListener('pointerup', ended);
    layer.addEventListener('pointercancel', ended);
    layer.addEventListener('pointerleave', hideTip);
    layer.addEventListener('dblclick', () => this.selected && this.fit());
    layer.addEventListener(
      'wheel',
      (event) => {
        const length = this.t1 - this.t0;
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          const about = this.t0 + (event.offsetX / this.width) * length,
            factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
          this.jump(about - (about - this.t0) * factor, about + (this.t1 - about) * factor);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          event.preventDefault();
          const asked = ((event.deltaX || event.deltaY) / this.width) * length,
            by = Math.max(-this.t0, Math.min(this.span - this.t1, asked));
          this.jump(this.t0 + by, this.t1 + by);
        }
      },
      {passive: false},
    );
    const map = this.minimap.parentElement;
    const follow = (event) => {
      const box = /** @type {Element} */ (map).getBoundingClientRect(),
        about = ((event.clientX - box.left) / box.width) * this.span,
        length = this.t1 - this.t0;
      const from = Math.max(0, Math.min(this.span - length, about - length / 2));
      this.jump(from, from + length);
    };
    map?.addEventListener('pointerdown', (event) => {
      map.setPointerCapture(event.pointerId);
      follow(event);
    });
    map?.addEventListener('pointermove', (event) => map.hasPointerCapture(event.pointerId) && follow(event));
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key means something here */
  key({key, altKey, ctrlKey, metaKey}) {
    if (altKey || ctrlKey || metaKey) return false;
    switch (key) {
      case 'w':
      case '+':
        this.zoom(0.5);
        return true;
      case 's':
      case '-':
        this.zoom(2);
        return true;
      case 'a':
      case 'ArrowLeft':
        this.pan(-0.25);
        return true;
      case 'd':
      case 'ArrowRight':
        this.pan(0.25);
        return true;
      case 'ArrowUp':
      case 'ArrowDown':
        if (document.activeElement !== this.layer) return false; // the page scrolls
        this.stepRow(key === 'ArrowUp' ? -1 : 1);
        return true;
      case 'f':
        this.fit();
        return true;
      case ',':
        this.step(-1);
        return true;
      case '.':
        this.step(1);
        return true;
      case 'r':
        this.rangeOfSelection();
        return true;
      case 'n':
        this.walk(1);
        return this.hits.length > 0;
      case 'N':
        this.walk(-1);
        return this.hits.length > 0;
      case 'Enter':
        if (
          document.activeElement instanceof HTMLButtonElement ||
          document.activeElement instanceof HTMLAnchorElement ||
          !this.selected
        )
          return false;
        this.openDetails();
        return true;
      case 'Escape':
        hideTip();
        if (this.range) this.setRange(null);
        else if (this.wanted) this.highlight(null);
        else if (this.selected) this.select(null);
        else return false;
        return true;
      default:
        return false;
    }
  }

  /** @param {number} node 1 + place @returns {string[]} */
  pathOf(node) {
    const path = [];
    for (let at = node; at > 0 && path.length < 100; at = this.nodes.parent[at - 1])
      path.unshift(this.nodes.name[at - 1]);
    return path;
  }

  async openDetails() {
    const hit = this.selected;
    if (!hit) return;
    const {lane, place} = hit,
      {runs} = lane;
    if (hit.isRun) {
      return openDrawer(
        `${count(runs.count[place])} merged slices`,
        detailList([
          ['Mostly', traceText(this.texts[runs.name[place]])],
          ['Start', exactTime(runs.start[place])],
          ['Length', exactTime(runs.length[place])],
          ['Busy', exactTime(runs.busy[place])],
          ['Longest slice', exactTime(runs.longest[place])],
          ['On', visible(lane.meta.title)],
        ]),
        el(
          'p',
          {class: 'muted'},
          `Slices below ${time(lane.meta.merged_below_ns)} were merged to keep the file small. All of them: write the page with --window ${Math.floor(
            runs.start[place] / 1000,
          )}us..${Math.ceil((runs.start[place] + runs.length[place]) / 1000)}us`,
        ),
      );
    }
    const name = this.texts[lane.name[place]],
      op = lane.op[place] - 1,
      event = lane.event[place];
    const opName = op >= 0 ? this.ops.name[op] : '',
      shapes = op >= 0 ? this.ops.shapes[op] : '',
      types = op >= 0 ? this.ops.types[op] : '';
    const [{table: work, row: worked, columns, hash: opHash}, kernels] = await Promise.all([
      opRow(this.page, opName, shapes, types, lane.meta.kind === 'gpu' ? name : ''),
      this.page.table('kernel_summary'),
    ]);
    const figure = (column, unit) => {
      const value = worked >= 0 && column ? work?.column(column)?.values[worked] : null;
      return typeof value === 'number' && value > 0 ? humanNumber(value, unit) : null;
    };
    const modelled = worked >= 0 ? (work?.column(columns.name)?.values[worked] ?? '') : '';
    const kernelNames = (kernels?.column('Kernel name') ?? kernels?.column('name'))?.values ?? [],
      parents = kernels?.column('Parent cpu_op')?.values ?? [];
    let kernelRow =
      lane.meta.kind === 'gpu' ? kernelNames.findIndex((one, row) => one === name && parents[row] === opName) : -1;
    if (kernelRow < 0 && lane.meta.kind === 'gpu') kernelRow = kernelNames.indexOf(name);
    const launch = this.launchOf(hit),
      module = lane.module[place];
    const {source: sources, groups} = this.manifest,
      source = (groups.length > 1 ? sources.length > 1 && sources[lane.meta.group] : sources[0]) || 'FILE';
    const command = `tracelens tree ${shellWord(source)} --path ${event}`;
    const shown = el('code', {dir: 'ltr', class: 'command'}, visible(command));
    openDrawer(
      traceText(name, 90),
      detailList([
        ['On', visible(lane.meta.title)],
        ['Class', this.manifest.classes[lane.class[place]]?.name ?? ''],
        ['Start', exactTime(lane.start[place])],
        ['Duration', el('b', {class: 'digits'}, exactTime(lane.duration[place]))],
        ['Op', opName && traceText(opName)],
        ['Shapes', shapes && [shapesText(shapes), el('div', {class: 'muted wrap'}, traceText(shapes))]],
        ['Types', types && (typesText(types) || traceText(types))],
        [
          'Module',
          module
            ? el(
                'span',
                {class: 'wrap'},
                this.pathOf(module)
                  .map((part) => visible(part))
                  .join(' › '),
              )
            : null,
        ],
        [
          'Launched',
          lane.latency[place] >= 0
            ? [
                `${exactTime(lane.latency[place])} before it ran`,
                launch
                  ? ` by ${visible(
                      shortName(
                        this.texts[
                          launch.hit.isRun
                            ? launch.hit.lane.runs.name[launch.hit.place]
                            : launch.hit.lane.name[launch.hit.place]
                        ],
                        60,
                      ),
                    )}`
                  : '',
              ]
            : null,
        ],
        ['Modelled as', modelled && modelled !== opName.split(' (')[0] ? traceText(modelled, 60) : null],
        ['Work per call', figure(columns.flops, 'GFLOP')],
        ['Data per call', figure(columns.bytes, 'MiB')],
        [
          'Rate, mean',
          [figure(columns.rate, 'TFLOP/s'), figure(columns.bandwidth, 'TB/s')].filter(Boolean).join(' · '),
        ],
        ['Of roof, mean', figure(columns.roof, '%')],
        ['Event', event],
        ['Full name', name.length > 90 ? traceText(name) : null],
      ]),
      el(
        'div',
        {class: 'commandline'},
        shown,
        button('Copy', () => copyText(command, 'Command copied.')),
      ),
      el(
        'div',
        {class: 'toolbar'},
        button(
          'Same kernel',
          () => {
            const names = new Uint8Array(this.texts.length);
            names[lane.name[place]] = 1;
            this.highlight({names, ops: new Uint8Array(this.ops.name.length + 1)});
            say(`${count(this.hits.length)} slices have this name`);
          },
          {title: 'Highlight all of this name'},
        ),
        opName && button('Op row', () => go(opHash)),
        kernelRow >= 0 && button('Kernel row', () => go(hashOf('kernels', '', [['row', kernels.key(kernelRow)]]))),
        module ? button('Module', () => go(hashOf('tree', '', [['node', module - 1]]))) : null,
        launch &&
          button(
            'Launch',
            () => {
              this.select(launch.hit, true);
              this.openDetails();
            },
            {title: 'Go to the call that launched it'},
          ),
      ),
    );
  }

  /** Slices of the selected range, or of what is in view. */
  table() {
    const [from, to] = this.range ?? [this.t0, this.t1];
    /** @type {any[][]} */
    const rows = [];
    for (const lane of this.lanes) {
      inOrder([lane], from, to, (start, end, _, place, isRun) => {
        const name = this.texts[isRun ? lane.runs.name[place] : lane.name[place]],
          op = isRun ? 0 : lane.op[place];
        rows.push([
          lane.meta.title,
          isRun ? `${lane.runs.count[place]} merged, mostly ${name}` : name,
          start / 1000,
          (isRun ? lane.runs.busy[place] : lane.duration[place]) / 1000,
          op ? this.ops.name[op - 1] : null,
          op ? this.ops.shapes[op - 1] : null,
          isRun || lane.latency[place] < 0 ? null : lane.latency[place] / 1000,
          isRun ? null : lane.event[place],
        ]);
      });
    }
    const column = (i) => rows.map((row) => row[i]);
    return pictureTable('slices', `Slices from ${exactTime(Math.round(from))} to ${exactTime(Math.round(to))}`, [
      ['lane', '', 0, column(0)],
      ['name', '', 0, column(1)],
      ['start', 'µs', 2, column(2)],
      ['duration', 'µs', 2, column(3)],
      ['op', '', 0, column(4)],
      ['shapes', '', 4, column(5)],
      ['launch latency', 'µs', 2, column(6)],
      ['event', 'id', 1, column(7)],
    ]);
  }
}

/** @type {Timeline | null} */
let timelineNow = null;

export const timelineView = {
  id: 'timeline',
  title: 'Timeline',
  key: '',
  isThere: (page) => page.manifest.lanes.length > 0,
  /** @param {any} page @param {HTMLElement} into */
  async draw(page, into) {
    const [texts, ops, nodes, memory, lanes] = await Promise.all([
      page.texts(),
      page.ops(),
      page.nodes(),
      page.table('memory_timeline'),
      Promise.all(page.manifest.lanes.map((_, i) => page.lane(i))),
    ]);
    timelineNow?.stop();
    timelineNow = new Timeline(page, texts, lanes, ops, nodes, memory);
    into.append(timelineNow.element);
    timelineNow.start();
  },
  keys: (event) => timelineNow?.key(event) ?? false,
  leave() {
    timelineNow?.stop();
    timelineNow = null;
  },
};
