// view_diff.js: runs side by side: their time, their lanes on one scale, and what changed by op.
import {el, traceText} from './dom.js';
import {drawLane, hitLane, laneLook} from './lanes.js';
import {appendTables, hideTip, keepDrawn, legend, showTip, themeOf} from './picture.js';
import {go, hashOf} from './route.js';
import {changeOf, changePercent, comparedRuns, signed} from './runs.js';
import {pictureWithTable} from './table.js';
import {fixed, shortName, time, visible} from './text.js';

const kMostDiffRows = 40;

export const diffView = {
  id: 'diff',
  title: 'Diff',
  key: '',
  /** @param {import('./data.js').Page} page */
  isThere: (page) =>
    page.hasTable('ops_diff') ||
    page.manifest.verb === 'compare' ||
    page.manifest.tables.some((table) => /_only_(baseline|variant)_/.test(table.name)),
  /** @param {import('./data.js').Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const {manifest} = page,
      [replaced, modules, changed] = await Promise.all(
        ['substitutions', 'modules_diff', 'what_changed'].map((name) => page.table(name)),
      ),
      {names: runs, labels, times, changes: rows, whole} = await comparedRuns(page);
    /** @type {any[]} */
    const metas = manifest.lanes;
    const lanes = await Promise.all(metas.map((meta, i) => (meta.kind === 'gpu' ? page.lane(i) : null))),
      texts = metas.length ? await page.texts() : [];
    const bounds = runs.map((_, run) =>
      lanes.reduce(
        (found, lane) => {
          if (!lane || lane.meta.group !== run) return found;
          const end = Math.max(
            ...[lane, lane.runs].map((part) =>
              part.start.reduce((last, start, i) => Math.max(last, start + (part.duration ?? part.length)[i]), 0),
            ),
          );
          const start = Math.min(
            ...[lane.start, lane.runs.start].map((list) => list.reduce((a, b) => Math.min(a, b), Infinity)),
          );
          return {start: Math.min(found.start, start), end: Math.max(found.end, end)};
        },
        {start: Infinity, end: 0},
      ),
    );
    // The lanes may begin before what the tables count, so they do not tell how long a run lasts.
    const lasts = times('total_time');
    const work = runs.map((_, i) => rows.reduce((sum, row) => sum + (row.times[i] ?? 0), 0)),
      longest = Math.max(...lasts.map((value) => value ?? 0), ...work, 1e-9);
    into.append(
      el(
        'div',
        {class: 'diff-runs'},
        runs.map((run, i) => {
          const value = lasts[i] ?? work[i],
            base = lasts[0] ?? work[0];
          return el(
            'section',
            {class: 'diff-run'},
            el('h2', {title: visible(run), dir: 'ltr'}, labels[i], i ? null : el('span', {class: 'muted'}, ' base')),
            el(
              'p',
              {class: 'diff-total digits'},
              `${fixed(value, 2)} ms `,
              i ? el('span', {class: value > base ? 'worse' : 'better'}, changePercent(value, base)) : null,
            ),
            el(
              'div',
              {class: 'diff-track'},
              el('div', {class: 'diff-span', style: {width: `${(100 * value) / longest}%`}}),
              el('div', {class: 'diff-work', style: {width: `${(100 * work[i]) / longest}%`}}),
            ),
            el(
              'p',
              {class: 'muted'},
              `${lasts[i] === null ? 'GPU work' : `GPU work ${fixed(work[i], 2)} ms`}${i ? `, ${signed(work[i] - work[0])} ms` : ''}`,
            ),
          );
        }),
      ),
    );
    if (lanes.some(Boolean)) this.lanes(into, page, lanes.filter(Boolean), bounds, labels, texts);
    const two = runs.length === 2,
      most = Math.max(
        1e-9,
        ...rows.map((row) => (two ? Math.abs(changeOf(row)) : Math.max(...row.times.map((value) => value ?? 0)))),
      );
    const bar = (row) => {
      if (!two)
        return el(
          'div',
          {class: 'diff-bars'},
          row.times.map((value, i) =>
            el('i', {class: `run-${i % 4}`, style: {width: `${(100 * (value ?? 0)) / most}%`}}),
          ),
        );
      const change = changeOf(row);
      return el(
        'div',
        {class: 'diff-change'},
        el('i', {
          class: row.verdict === 'noise' ? 'noise' : change > 0 ? 'worse' : 'better',
          style: {
            width: `${(50 * Math.abs(change)) / most}%`,
            left: change > 0 ? '50%' : `${50 - (50 * Math.abs(change)) / most}%`,
          },
        }),
      );
    };
    const verdictOf = (row) =>
      row.verdict && row.verdict !== 'unknown' && row.verdict !== 'mixed'
        ? row.verdict
        : row.times[0]
          ? row.times[1]
            ? (row.times[1] ?? 0) > row.times[0]
              ? 'slower'
              : 'faster'
            : 'gone'
          : 'new';
    const picture = el(
      'div',
      {class: 'diff-scroll', tabindex: '0', role: 'region', 'aria-label': 'Change by op'},
      el(
        'table',
        {class: 'diff-table'},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', {scope: 'col'}, 'op'),
            labels.map((label) => el('th', {scope: 'col', class: 'number'}, `${label}, ms`)),
            two ? el('th', {scope: 'col', class: 'number'}, 'change, ms') : null,
            el('th', {scope: 'col', class: 'diff-wide'}, two ? 'faster ◂ ▸ slower' : 'time'),
            two ? el('th', {scope: 'col'}, 'verdict') : null,
          ),
        ),
        el(
          'tbody',
          {},
          rows.slice(0, kMostDiffRows).map((row) =>
            el(
              'tr',
              {class: row.verdict === 'noise' ? 'muted' : null},
              el('th', {scope: 'row'}, traceText(row.name, 60)),
              row.times.map((value) => el('td', {class: 'number'}, value === null ? '' : fixed(value, 3))),
              two ? el('td', {class: 'number'}, signed(changeOf(row))) : null,
              el('td', {}, bar(row)),
              two ? el('td', {}, row.verdict === 'noise' ? 'within noise' : verdictOf(row)) : null,
            ),
          ),
        ),
      ),
    );
    if (two && manifest.nodes_blob >= 0)
      into.append(el('p', {}, el('a', {href: '#tree?colour=change'}, 'Modules, coloured by change')));
    if (rows.length) {
      into.append(
        el(
          'h2',
          {},
          'By op',
          el(
            'span',
            {class: 'muted'},
            rows.length > kMostDiffRows ? ` the ${kMostDiffRows} largest changes of ${rows.length}` : '',
          ),
        ),
        whole ? pictureWithTable(picture, () => whole, 'bars') : picture,
      );
      if (!two)
        into.append(
          el(
            'ul',
            {class: 'legend'},
            labels.map((label, i) => el('li', {}, el('span', {class: `swatch run-${i % 4}`}), label)),
          ),
        );
      if (page.hasTable('ops_diff') && rows.every((row) => row.verdict === 'unknown'))
        into.append(
          el('p', {class: 'muted'}, 'One step each: what is noise cannot be told. Record several steps to know.'),
        );
    }
    appendTables(into, [
      [replaced ?? changed, 'What took the place of what'],
      [modules, 'By module'],
    ]);
  },
  /** Lanes of all runs on one scale, their first GPU events aligned.
   * @param {HTMLElement} into @param {import('./data.js').Page} page @param {any[]} lanes @param {{start: number, end: number}[]} bounds @param {string[]} labels @param {string[]} texts */
  lanes(into, page, lanes, bounds, labels, texts) {
    const length = Math.max(...bounds.map(({start, end}) => (end > 0 ? end - start : 0))) * 1.01,
      shown = bounds.flatMap((_, run) => lanes.filter((lane) => lane.meta.group === run).slice(0, 3));
    const boxes = shown.map((lane) => ({
      lane,
      canvas: el('canvas', {
        role: 'img',
        'aria-label': `${labels[lane.meta.group]}, ${visible(lane.meta.title)}: busy ${time(lane.meta.busy_ns)}, longest gap ${time(lane.meta.longest_gap_ns)}`,
      }),
    }));
    const box = el(
        'div',
        {class: 'timeline'},
        boxes.map(({lane, canvas}) =>
          el(
            'div',
            {class: 'lane'},
            el(
              'div',
              {class: 'lane-title'},
              el('span', {class: 'lane-name', dir: 'ltr'}, labels[lane.meta.group]),
              el('span', {class: 'muted'}, visible(lane.meta.title)),
            ),
            el('div', {class: 'diff-lane'}, canvas),
          ),
        ),
      ),
      key = el('div', {});
    into.append(el('h2', {}, 'On one time scale'), box, key);
    for (const {lane, canvas} of boxes) {
      const {start} = bounds[lane.meta.group],
        at = (event) => start + (event.offsetX / canvas.clientWidth) * length;
      canvas.addEventListener('pointermove', (event) => {
        const hit = hitLane(lane, Math.floor(event.offsetY / 30), at(event), (2 * length) / canvas.clientWidth);
        if (hit && !hit.isRun)
          showTip(event, visible(shortName(texts[lane.name[hit.place]], 90)), time(lane.duration[hit.place], 4));
        else hideTip();
      });
      canvas.addEventListener('pointerleave', hideTip);
      canvas.addEventListener('click', (event) =>
        go(
          hashOf('timeline', '', [
            ['t', `${Math.max(0, Math.round(at(event) - length / 40))}-${Math.round(at(event) + length / 40)}`],
          ]),
        ),
      );
    }
    keepDrawn(box, () => {
      const theme = themeOf(box),
        look = laneLook(page.manifest.classes, theme);
      for (const {lane, canvas} of boxes) {
        const {start} = bounds[lane.meta.group];
        drawLane(canvas, lane, {
          t0: start,
          t1: start + length,
          width: canvas.parentElement?.clientWidth ?? 0,
          rowHeight: 30,
          look,
          texts,
        });
      }
      key.replaceChildren(
        legend(
          page.manifest.classes.filter((_, i) => shown.some((lane) => lane.class.includes(i))),
          theme.paper,
        ),
      );
    });
  },
  leave: hideTip,
};
