// view_about.js: where the page comes from, what is not in it, and what its columns mean.
import {el, traceText} from './dom.js';
import {count, exactTime} from './text.js';
import {tableOf} from './data.js';
import {dataTable} from './table.js';
import {detailList} from './drawer.js';
import {go, hashOf} from './route.js';

/** @param {import('./data.js').Page} page */
async function columnGlossary(page) {
  /** @type {string[][]} */
  const cells = [[], [], [], []];
  for (const {name} of page.manifest.tables)
    for (const column of (await page.table(name))?.columns ?? [])
      [column.name, name, column.unit, column.description].forEach((cell, i) => cells[i].push(cell));
  return tableOf({
    name: 'columns',
    columns: ['column', 'table', 'unit', 'meaning'].map((name, i) => ({
      name,
      unit: '',
      description: '',
      kind: 0,
      values: cells[i],
    })),
  });
}

export const aboutView = {
  id: 'about',
  title: 'About',
  isThere: () => true,
  /** @param {import('./data.js').Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const {manifest} = page;
    const origin =
      /^\d{16,19}$/.test(manifest.origin_ns ?? '') && BigInt(manifest.origin_ns) > 10n ** 18n
        ? new Date(Number(BigInt(manifest.origin_ns) / 1000000n)).toISOString().replace('T', ' ').replace('Z', ' UTC')
        : null;
    into.append(
      el('h2', {}, 'About this page'),
      detailList([
        ['Title', manifest.title],
        ['', manifest.subtitle],
        ['Made from', manifest.source.map((file) => el('div', {}, traceText(file)))],
        ['First event', origin],
        ['Length', manifest.span_ns ? exactTime(manifest.span_ns) : null],
        ['Tables', count(manifest.tables.length)],
        ['Written by', `TraceLens ${manifest.version ?? ''}`],
      ]),
      el(
        'p',
        {class: 'muted'},
        'The page is one file. It loads nothing, sends nothing, and keeps nothing but the choice of light or dark.',
      ),
    );
    if (manifest.gaps.length)
      into.append(
        el('h2', {id: 'gaps'}, 'Not in this trace'),
        detailList(manifest.gaps.map((gap) => [gap.view, gap.why])),
      );
    if (manifest.left_out.length)
      into.append(
        el('h2', {}, 'Left out of the file'),
        el(
          'ul',
          {},
          manifest.left_out.map((text) => el('li', {}, traceText(text))),
        ),
      );
    const warnings = await page.table('warnings');
    if (warnings) into.append(el('h2', {}, 'Warnings'), dataTable({table: warnings}));
    const glossary = await columnGlossary(page);
    into.append(
      el('h2', {}, 'What the columns mean'),
      dataTable({table: glossary, onRow: (row) => go(hashOf('table', glossary.columns[1].values[row]))}),
    );
  },
};
