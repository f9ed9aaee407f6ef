// table.js: a table of any size that sorts, filters and is copied; only the rows in sight are in the document.
import {el, clear, button} from './dom.js';

/** @typedef {import('./data.js').TableData} TableData */

/**
 * dataTable({table, caption}): see the options below. The skeleton that the full one replaces.
 * @param {{table: TableData, caption?: string, shown?: string[], onRow?: (row: number) => void}} options
 */
export function dataTable({table, caption = '', shown = table.first}) {
  const columns = table.columns.filter(({name}) => !shown.length || shown.includes(name));
  return el('table', {class: 'grid'}, el('caption', {}, caption || table.description),
    el('thead', {}, el('tr', {}, columns.map(({name}) => el('th', {}, name)))),
    el('tbody', {}, Array.from({length: Math.min(table.rows, 50)}, (_, row) => el('tr', {}, columns.map(({values}) => el('td', {}, values[row]))))));
}

/** A picture and the table with the same content; the button and the key `t` swap them. @param {Element} picture @param {() => TableData | Promise<TableData>} makeTable @param {string} label */
export function pictureWithTable(picture, makeTable, label = 'picture') {
  const place = el('div', {}, picture);
  let isTable = false;
  const swap = async () => {
    isTable = !isTable;
    clear(place).append(isTable ? dataTable({table: await makeTable()}) : picture);
    toggle.textContent = isTable ? `Show the ${label}` : 'Show as a table';
  };
  const toggle = button('Show as a table', swap, {class: 'button quiet picture-toggle', 'data-picture-toggle': ''});
  return el('div', {class: 'picture'}, place, toggle);
}
