// axes.js: scales, ticks and rulers, and the frame of a plot as SVG.
import {svgEl} from './dom.js';
import {withSeparators} from './text.js';

/** Steps of 1, 2 or 5: at most `most` of them between `from` and `to`. @param {number} from @param {number} to @param {number} most */
export function niceStep(from, to, most) {
  const rough = (to - from) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= rough * (1 - 1e-9)) ?? 10 * power;
}

/** @param {number} from @param {number} to @param {number} most @returns {number[]} */
export function linearTicks(from, to, most) {
  const step = niceStep(from, to, most),
    ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9 && ticks.length < 1000; ++i)
    ticks.push(i * step);
  return ticks;
}

/** Powers of ten, and 2 to 9 times them where there are few. @param {number} from @param {number} to @returns {{value: number, major: boolean}[]} */
export function logTicks(from, to) {
  const ticks = [],
    decades = Math.log10(to / from);
  for (let power = Math.floor(Math.log10(from) - 1e-9); 10 ** power <= to * (1 + 1e-9); ++power) {
    for (let digit = 1; digit < 10; ++digit) {
      const value = digit * 10 ** power;
      if (value < from * (1 - 1e-9) || value > to * (1 + 1e-9)) continue;
      if (digit === 1 || decades < 8)
        ticks.push({value, major: digit === 1 || (decades < 1.5 && (digit === 2 || digit === 5))});
    }
  }
  return ticks;
}

/** Moments of a ruler with what stands there: all in one unit, with the digits that the step needs.
 * @param {number} from ns @param {number} to ns @param {number} most @returns {{value: number, label: string}[]} */
export function timeTicks(from, to, most) {
  const step = niceStep(from, to, most),
    end = Math.max(Math.abs(from), Math.abs(to));
  const [unit, name] = /** @type {[number, string]} */ (
    end >= 1e9 ? [1e9, 's'] : end >= 1e6 ? [1e6, 'ms'] : end >= 1e3 ? [1e3, 'µs'] : [1, 'ns']
  );
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return linearTicks(from, to, most).map((value) => ({value, label: `${(value / unit).toFixed(digits)} ${name}`}));
}

/** From values to pixels. @param {number} from @param {number} to @param {number} a @param {number} b @param {boolean} isLog @returns {(value: number) => number} */
export function scaleOf(from, to, a, b, isLog = false) {
  if (!isLog) return (value) => a + ((value - from) / (to - from || 1)) * (b - a);
  const low = Math.log(from),
    high = Math.log(to);
  return (value) => a + ((Math.log(value) - low) / (high - low || 1)) * (b - a);
}

/** The extent of values, widened to what an axis can show. @param {number[]} values @param {boolean} isLog @returns {[number, number]} */
export function extentOf(values, isLog = false) {
  const used = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  if (!used.length) return isLog ? [1, 10] : [0, 1];
  let low = Infinity,
    high = -Infinity;
  for (const value of used) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return isLog ? [low / 1.6, high * 1.6] : [Math.min(0, low), high > low || high > 0 ? high * 1.06 : low + 1];
}

/**
 * @typedef {{from: number, to: number, log?: boolean, label: string, format?: (value: number) => string, ticks?: {value: number, label: string}[]}} PlotAxis
 * @typedef {{svg: any, marks: any, x: (value: number) => number, y: (value: number) => number, left: number, right: number, top: number, bottom: number}} Plot
 */

/** A frame with ticks, grid and labels; draw into `marks`. @param {number} width @param {number} height @param {PlotAxis} across @param {PlotAxis} up @param {string} label what the picture shows
 * @returns {Plot} */
export function plotOf(width, height, across, up, label) {
  const left = 52,
    right = width - 14,
    top = 12,
    bottom = height - 40;
  const x = scaleOf(across.from, across.to, left, right, across.log),
    y = scaleOf(up.from, up.to, bottom, top, up.log);
  const ticksOf = (axis, most) => {
    const format = axis.format ?? ((value) => withSeparators(String(+value.toPrecision(6))));
    if (axis.ticks) return axis.ticks.map((tick) => ({...tick, major: true}));
    if (axis.log)
      return logTicks(axis.from, axis.to).map(({value, major}) => ({value, major, label: major ? format(value) : ''}));
    return linearTicks(axis.from, axis.to, most).map((value) => ({value, major: true, label: format(value)}));
  };
  const marks = svgEl('g', {});
  const svg = svgEl(
    'svg',
    {class: 'plot', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label},
    ticksOf(across, width / 110).map((tick) => [
      svgEl('line', {
        class: tick.major ? 'gridline' : 'gridline fine',
        x1: x(tick.value),
        x2: x(tick.value),
        y1: top,
        y2: bottom,
      }),
      tick.label && svgEl('text', {x: x(tick.value), y: bottom + 16, 'text-anchor': 'middle'}, tick.label),
    ]),
    ticksOf(up, height / 60).map((tick) => [
      svgEl('line', {
        class: tick.major ? 'gridline' : 'gridline fine',
        x1: left,
        x2: right,
        y1: y(tick.value),
        y2: y(tick.value),
      }),
      tick.label && svgEl('text', {x: left - 6, y: y(tick.value) + 4, 'text-anchor': 'end'}, tick.label),
    ]),
    marks,
    svgEl('text', {class: 'axis-name', x: right, y: height - 6, 'text-anchor': 'end'}, across.label),
    svgEl('text', {class: 'axis-name', x: left + 6, y: top + 10}, up.label),
  );
  return {svg, marks, x, y, left, right, top, bottom};
}
