// view_roofline.js: each op with a model against the limits of the GPU, on logarithmic axes.
import {plotOf} from './axes.js';
import {clear, el, svgEl} from './dom.js';
import {cellsOf, classOf, hideTip, keepDrawn, legible, mixColour, opRow, showTip, themeOf, toggle} from './picture.js';
import {go, say, state} from './route.js';
import {dataTable, pictureWithTable} from './table.js';
import {count, fourDigits, humanNumber, percent, shapesText, shortName, visible, workName} from './text.js';

/** Where the roofs turn, from edge to edge of the plot: [intensity, rate] pairs. @param {number} tflops @param {number} terabytes @param {number} from @param {number} to */
export function roofLine(tflops, terabytes, from, to) {
  const turn = tflops / terabytes;
  return [
    [from, Math.min(tflops, from * terabytes)],
    ...(turn > from && turn < to ? [[turn, tflops]] : []),
    [to, Math.min(tflops, to * terabytes)],
  ];
}

export const rooflineView = {
  id: 'roofline',
  title: 'Roofline',
  key: '',
  /** @param {import('./data.js').Page} page */
  isThere: (page) =>
    page.manifest.roofline !== null && page.manifest.roofline !== undefined && page.hasTable('roofline'),
  /** @param {import('./data.js').Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const table = await page.table('roofline'),
      about = page.manifest.roofline,
      asked = state.get('row');
    if (!table) return;
    const cells = (name) => cellsOf(table, name);
    const names = cells('op'),
      categories = cells('category').map((category) => workName(category ?? '')),
      intensity = cells('FLOPs/byte'),
      rates = cells('achieved'),
      shares = cells('time share'),
      roofs = cells('% of roof'),
      bounds = cells('bound'),
      calls = cells('calls'),
      times = cells('GPU time'),
      dims = cells('Input Dims'),
      types = cells('Input type');
    const rows = Array.from(names.keys()),
      placed = rows.filter((row) => intensity[row] > 0 && rates[row] > 0);
    const kinds = [...new Set(categories)];
    /** @type {Set<string>} */
    const hidden = new Set();
    let chosen = new Set(placed),
      showsAchievable = true;
    /** @type {any[]} */
    const classes = page.manifest.classes,
      levels = about.roofs;
    const colourOf = (category) => {
      const at = classOf(classes, category ?? '');
      return at >= 0 ? classes[at].colour : (classes.find(({name}) => name === 'other')?.colour ?? '#8c8c8c');
    };
    const box = el('div', {
      class: 'roofline-box',
      tabindex: '0',
      role: 'application',
      'aria-label': 'Roofline. Arrow keys go from point to point by time, Enter goes to the row of the op.',
    });
    const open = async (row) => go((await opRow(page, names[row], dims[row] ?? '', types[row] ?? '')).hash);
    const lines = (row) => [
      visible(names[row]),
      shapesText(dims[row] ?? ''),
      `${count(calls[row])} calls · ${humanNumber(times[row], 'µs')} · ${percent(shares[row])} of GPU time`,
      `${fourDigits(rates[row])} TFLOP/s at ${fourDigits(intensity[row])} FLOP/byte`,
      roofs[row] === null ? null : `${percent(roofs[row])} of roof, ${bounds[row]}-bound`,
    ];
    let focus = -1;
    if (asked) {
      // the key of a row of the ops
      const {table: ops} = await opRow(page, '', '', ''),
        at = ops?.rowOf(asked) ?? -1;
      if (ops && at >= 0)
        focus =
          placed.find(
            (row) =>
              names[row] === ops.column('name')?.values[at] && dims[row] === ops.column('Input Dims')?.values[at],
          ) ?? -1;
      if (focus < 0) say('The op of this link has no point.');
    }
    const list = dataTable({
      table,
      caption: 'Points',
      shown: ['op', 'time share', '% of roof', 'achieved', 'bound', 'Input Dims'],
      onRow: (row) => open(row),
    });
    const narrow = () =>
      list.narrow?.((row) => !hidden.has(categories[row]) && (chosen.size === placed.length || chosen.has(row)));
    const draw = () => {
      const theme = themeOf(box),
        width = box.clientWidth,
        height = Math.max(300, Math.min(560, width * 0.62));
      const plot = plotOf(
        width,
        height,
        {from: about.least_intensity, to: about.most_intensity, log: true, label: 'FLOP per byte'},
        {from: about.least_tflops, to: about.most_tflops, log: true, label: 'TFLOP/s'},
        '',
      );
      const {x, y, marks, svg} = plot,
        shown = placed.filter((row) => !hidden.has(categories[row])).sort((a, b) => shares[b] - shares[a]);
      const clip = (value, low, high) => Math.max(low, Math.min(high, value));
      const roofNames = svgEl('g', {});
      /** @type {number[]} */
      const labelled = [];
      for (const roof of levels.filter((one) => showsAchievable || !one.achievable)) {
        const points = roofLine(roof.tflops, about.terabytes, about.least_intensity, about.most_intensity);
        marks.append(
          svgEl('path', {
            class: roof.achievable ? 'roof achievable' : 'roof',
            d: points.map(([i, t], at) => `${at ? 'L' : 'M'}${x(i)} ${y(Math.max(t, about.least_tflops))}`).join(''),
          }),
        );
        let top = y(roof.tflops) - 6;
        while (labelled.some((other) => Math.abs(other - top) < 13)) top += 13;
        labelled.push(top);
        roofNames.append(
          svgEl('text', {class: 'roof-name', x: plot.right - 4, y: top, 'text-anchor': 'end'}, roof.label),
        );
      }
      const steep = Math.max(about.least_intensity, about.least_tflops / about.terabytes),
        low = Math.sqrt(
          steep *
            Math.min(
              about.most_intensity,
              Math.min(...levels.map((roof) => roof.tflops), about.most_tflops) / about.terabytes,
            ),
        );
      if (low > steep)
        roofNames.append(
          svgEl(
            'text',
            {class: 'roof-name', x: x(low) - 10, y: y(low * about.terabytes) - 4, 'text-anchor': 'end'},
            `${+about.terabytes.toPrecision(3)} TB/s`,
          ),
        );
      const largest = Math.max(...shown.map((row) => shares[row]), 0.001);
      /** @type {{x: number, y: number, width: number}[]} */
      const taken = [];
      for (const [order, row] of shown.entries()) {
        const cx = clip(x(intensity[row]), plot.left, plot.right),
          cy = clip(y(rates[row]), plot.top, plot.bottom),
          radius = 3 + 19 * Math.sqrt(shares[row] / largest),
          colour = theme.forced ? theme.ink : legible(colourOf(categories[row]), theme.paper);
        marks.append(
          svgEl('circle', {
            class: chosen.has(row) ? 'point' : 'point off',
            cx,
            cy,
            r: radius,
            'data-row': row,
            style: {
              fill: colour,
              stroke: row === focus ? theme.ink : mixColour(colour, theme.ink, 0.3),
              strokeWidth: row === focus ? 3 : 1,
            },
          }),
        );
        const text = visible(shortName(names[row].replace(/^aten::/, ''), 24)),
          place = {x: cx + radius + 3, y: cy + 4, width: text.length * 6};
        if (
          order >= 12 ||
          place.x + place.width > plot.right ||
          taken.some(
            (other) =>
              Math.abs(other.y - place.y) < 12 && place.x < other.x + other.width && other.x < place.x + place.width,
          )
        )
          continue;
        taken.push(place);
        marks.append(svgEl('text', {class: 'point-name', x: place.x, y: place.y}, text));
      }
      marks.append(roofNames);
      const best = shown[0];
      svg.setAttribute(
        'aria-label',
        best === undefined
          ? 'Roofline without points'
          : `Roofline of ${about.gpu}: ${shown.length} points; the costliest, ${visible(names[best])}, takes ${percent(shares[best])} of GPU time at ${percent(roofs[best] ?? 0)} of its roof`,
      );
      const brush = svgEl('rect', {class: 'plot-brush', hidden: true});
      svg.append(brush);
      let began = /** @type {{x: number, y: number} | null} */ (null);
      const at = (event) => {
        const frame = svg.getBoundingClientRect();
        return {x: event.clientX - frame.left, y: event.clientY - frame.top};
      };
      const rowAt = (event) => (event.target.dataset?.row === undefined ? -1 : +event.target.dataset.row);
      svg.addEventListener('pointerdown', (event) => {
        began = at(event);
        svg.setPointerCapture(event.pointerId);
      });
      svg.addEventListener('pointermove', (event) => {
        if (!began) return rowAt(event) >= 0 ? showTip(event, ...lines(rowAt(event))) : hideTip();
        const to = at(event);
        if (Math.abs(to.x - began.x) + Math.abs(to.y - began.y) < 6) return;
        brush.removeAttribute('hidden');
        for (const [name, value] of Object.entries({
          x: Math.min(began.x, to.x),
          y: Math.min(began.y, to.y),
          width: Math.abs(to.x - began.x),
          height: Math.abs(to.y - began.y),
        }))
          brush.setAttribute(name, String(value));
      });
      svg.addEventListener('pointerup', (event) => {
        const from = began,
          to = at(event);
        began = null;
        if (!from) return;
        if (Math.abs(to.x - from.x) + Math.abs(to.y - from.y) < 6) {
          const row = Number(
            document
              .elementsFromPoint(event.clientX, event.clientY)
              .find((one) => one.getAttribute('data-row'))
              ?.getAttribute('data-row') ?? -1,
          );
          if (row >= 0) return open(row);
          chosen = new Set(placed);
        } else
          chosen = new Set(
            placed.filter(
              (row) =>
                (x(intensity[row]) - from.x) * (x(intensity[row]) - to.x) <= 0 &&
                (y(rates[row]) - from.y) * (y(rates[row]) - to.y) <= 0,
            ),
          );
        say(
          `${chosen.size} points selected, ${percent([...chosen].reduce((sum, row) => sum + shares[row], 0))} of GPU time`,
        );
        narrow();
        draw();
      });
      svg.addEventListener('pointerleave', hideTip);
      clear(box).append(svg);
    };
    rooflineKeys = (event) => {
      if (event.target !== box || !placed.length) return false;
      const order = placed.filter((row) => !hidden.has(categories[row])).sort((a, b) => shares[b] - shares[a]),
        by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (event.key === 'Enter' && focus >= 0) return open(focus), true;
      if (!by) return false;
      focus = order[(order.indexOf(focus) + by + order.length) % order.length];
      say(lines(focus).filter(Boolean).join(', '));
      draw();
      return true;
    };
    const without = rows.length - placed.length;
    into.append(
      el(
        'p',
        {class: 'says'},
        `${about.gpu}: ${percent(about.placed_percent)} of GPU time is placed.`,
        el(
          'span',
          {class: 'muted'},
          ` Not drawn: ${percent(100 - about.placed_percent)} has no model`,
          without ? `, and ${count(without)} ops only move data.` : '.',
        ),
      ),
      el(
        'div',
        {class: 'toolbar'},
        levels.some((roof) => roof.achievable)
          ? toggle('Achievable roofs', true, (isOn) => {
              showsAchievable = isOn;
              draw();
            })
          : null,
        kinds.map((kind) => {
          const swatch = el('span', {class: 'swatch', style: {backgroundColor: colourOf(kind)}});
          return toggle(
            '',
            true,
            (isOn) => {
              if (isOn) hidden.delete(kind);
              else hidden.add(kind);
              narrow();
              draw();
            },
            {'aria-label': kind},
          ).appendChild(el('span', {class: 'chip-label'}, swatch, kind)).parentElement;
        }),
      ),
      el(
        'div',
        {class: 'beside'},
        pictureWithTable(box, () => table, 'roofline'),
        el(
          'div',
          {},
          el('p', {class: 'muted'}, 'Size is time. Drag over points to list them; click an empty place to list all.'),
          list,
        ),
      ),
    );
    keepDrawn(box, draw);
  },
  keys: (event) => rooflineKeys?.(event) ?? false,
  leave() {
    rooflineKeys = null;
    hideTip();
  },
};

/** @type {((event: KeyboardEvent) => boolean) | null} */
let rooflineKeys = null;
