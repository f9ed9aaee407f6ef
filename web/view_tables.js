// view_tables.js: every table of the report.
import {el, traceText} from './dom.js';
import {count, visible} from './text.js';
import {dataTable} from './table.js';
import {hashOf, go, say} from './route.js';

export const tablesView = {
  id: 'table',
  title: 'Tables',
  isThere: () => true,
  /** @param {import('./data.js').Page} page @param {HTMLElement} into @param {any} state */
  async draw(page, into, state) {
    const {tables} = page.manifest;
    if (!tables.length) return into.append(el('p', {class: 'notice'}, 'This report has no tables.'));
    const about =
      tables.find((table) => table.name === state.name) ??
      (state.name ? (say('The table of this link is not in this report.'), null) : null);
    const shown = about ?? tables[0],
      data = await page.table(shown.name);
    const link = (table) =>
      el(
        'a',
        {href: hashOf('table', table.name), title: table.description, 'aria-current': table === shown ? 'true' : null},
        el('span', {}, traceText(table.name)),
        el('span', {class: 'number'}, count(table.rows)),
      );
    into.append(
      el(
        'div',
        {class: 'side-by-side'},
        el(
          'nav',
          {class: 'table-list', 'aria-label': 'Tables'},
          el(
            'select',
            {'aria-label': 'Table', onchange: (event) => go(hashOf('table', event.target.value))},
            tables.map((table) =>
              el(
                'option',
                {value: table.name, selected: table === shown},
                `${visible(table.name)} (${count(table.rows)})`,
              ),
            ),
          ),
          el('div', {class: 'table-links'}, tables.map(link)),
        ),
        el(
          'section',
          {class: 'table-main'},
          el('h2', {}, traceText(shown.name)),
          data && dataTable({table: data, isKept: true}),
        ),
      ),
    );
    into.querySelector('.table-links [aria-current]')?.scrollIntoView({block: 'nearest'});
  },
};
