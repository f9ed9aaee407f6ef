// table.js: tables of any size that sort, filter and are copied; only the rows in sight are in the document.
import {el, clear, button, traceText} from './dom.js';
import {formatOf, shownUnit, csvOf, markdownOf, visible, shortName, plainText, parseNested, count} from './text.js';
import {tableOf} from './data.js';
import {openDrawer, detailList} from './drawer.js';
import {state, say, hashOf} from './route.js';

/** @typedef {import('./data.js').TableData} TableData @typedef {import('./data.js').Column} Column */

const kRowHeight = 32,
  kRowsAhead = 3,
  kCharWidth = 7.3; // of page.css

// A cell with text of the trace. Most have nothing hidden in it and need no element of their own: a table has hundreds.
/** @param {string} text @param {number} width */
function textCell(text, width) {
  const short = shortName(text, width);
  if (visible(short) !== short) return traceText(text, width);
  return el('td', {dir: 'ltr', title: short === text ? null : visible(shortName(text, 600))}, short);
}

// Rows whose texts have all words, and whose numbers keep to conditions such as `ms>1`.
/** @param {string} text @param {Column[]} columns @returns {((row: number) => boolean) | null} null: all */
export function filterOf(text, columns) {
  const numbers = columns.filter(({kind}) => kind === 1 || kind === 2),
    texts = columns.filter(({kind}) => kind === 0 || kind === 4);
  /** @type {((row: number) => boolean)[]} */
  const tests = [];
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, name, sign, bound] = /^([^<>=]+)([<>]=?|=)(-?\d*\.?\d+)$/.exec(word) ?? [];
    const column =
      name &&
      (numbers.find((c) => c.name.toLowerCase() === name) ??
        numbers.find((c) => c.unit.toLowerCase() === name) ??
        numbers.find((c) => c.name.toLowerCase().includes(name)));
    if (column) {
      const limit = Number(bound),
        {values} = column;
      tests.push((row) => {
        const value = values[row];
        if (value === null) return false;
        return sign === '>'
          ? value > limit
          : sign === '<'
            ? value < limit
            : sign === '>='
              ? value >= limit
              : sign === '<='
                ? value <= limit
                : value === limit;
      });
      continue;
    }
    const known = new Map(); // the same text stands in many rows
    const has = (cell) => {
      if (cell === null) return false;
      let found = known.get(cell);
      if (found === undefined) known.set(cell, (found = cell.toLowerCase().includes(word)));
      return found;
    };
    tests.push((row) => texts.some(({values}) => has(values[row])));
  }
  return tests.length ? (row) => tests.every((test) => test(row)) : null;
}

// In order of a column; missing cells last, equal ones as they were.
/** @param {number[]} rows @param {any[]} values @param {boolean} isDown */
export function sortedRows(rows, values, isDown) {
  const isMissing = (v) => v === null || v !== v;
  const there = rows.filter((row) => !isMissing(values[row])),
    sign = isDown ? -1 : 1;
  there.sort((a, b) => (values[a] < values[b] ? -sign : values[a] > values[b] ? sign : a - b));
  return there.concat(rows.filter((row) => isMissing(values[row])));
}

// What a click on a header makes of '-ms': numbers begin with the largest; the third click gives the first order back.
/** @param {string} sort @param {string} name @param {boolean} isNumber */
export function nextSort(sort, name, isNumber) {
  const [first, second] = isNumber ? ['-' + name, name] : [name, '-' + name];
  return sort === first ? second : sort === second ? '' : first;
}

/** @param {string} sort @param {string} name @returns {'ascending' | 'descending' | 'none'} */
export function orderOf(sort, name) {
  return sort === name ? 'ascending' : sort === '-' + name ? 'descending' : 'none';
}

// Header texts break behind '_', '/' and spaces, never inside a word.
/** @param {string} text @returns {any[]} */
function breakable(text) {
  return visible(text)
    .split(/(?<=[_/:])/)
    .flatMap((part, i) => (i ? [el('wbr'), part] : [part]));
}

// The unit, unless the name ends with it: peak_allocated_mb.
/** @param {Column} column */
function headerUnit(column) {
  const unit = shownUnit(column),
    end = column.name.slice(column.name.lastIndexOf('_') + 1).toLowerCase();
  return unit && (end === unit.toLowerCase() || (unit === '%' && end === 'pct')) ? '' : unit;
}

/**
 * Rows of one height in a scrolling box, with a header. Rows are asked for by their place.
 * @typedef {{label: string, unit?: string, note?: string, isNumber?: boolean, isCited?: boolean, chars: number, wish?: number, order?: 'ascending' | 'descending' | 'none', onSort?: () => void}} GridColumn
 * @param {{label: string, row: (i: number, chars: number[]) => {cells: any[], class?: string, expanded?: boolean, level?: number, selected?: boolean}, onRow?: (i: number, event: Event) => void, isTree?: boolean}} options
 */
export function grid({label, row, onRow, isTree = false}) {
  /** @type {GridColumn[]} */
  let columns = [];
  // Kept from the observers: asking the box itself would lay the page out anew at every sort.
  let rows = 0,
    active = 0,
    drawn = '',
    width = 1000,
    height = 600,
    top = 0;
  /** @type {number[]} */
  let chars = [];
  const head = el('tr', {'aria-rowindex': 1}),
    body = el('tbody'),
    widths = el('colgroup');
  const table = el(
    'table',
    {class: 'grid', role: isTree ? 'treegrid' : null, 'aria-label': label},
    widths,
    el('thead', {}, head),
    body,
  );
  const box = el('div', {class: 'grid-box', tabindex: '0', role: 'region', 'aria-label': label}, table);

  const spacer = (height) =>
    height > 0
      ? el(
          'tr',
          {class: 'spacer', 'aria-hidden': 'true'},
          el('td', {colspan: columns.length, style: {height: height + 'px'}}),
        )
      : null;
  const draw = (isForced = false) => {
    const seen = Math.min(80, Math.ceil(height / kRowHeight));
    const from = Math.max(0, Math.min(rows - seen, Math.floor(top / kRowHeight)) - kRowsAhead),
      to = Math.min(rows, from + seen + 2 * kRowsAhead);
    if (!isForced && drawn === `${from} ${to}`) return;
    drawn = `${from} ${to}`;
    const focused = body.contains(document.activeElement);
    const lines = [];
    for (let i = from; i < to; ++i) {
      const line = row(i, chars);
      lines.push(
        el(
          'tr',
          {
            'aria-rowindex': i + 2,
            class: line.class,
            tabindex: i === active ? '0' : '-1',
            'data-row': i,
            'aria-expanded': isTree ? line.expanded : null,
            'aria-level': isTree ? line.level : null,
            'aria-selected': isTree && line.selected ? 'true' : null,
          },
          line.cells.map((cell, j) =>
            cell instanceof HTMLTableCellElement
              ? cell
              : el('td', {class: columns[j].isNumber ? 'number' : null}, cell),
          ),
        ),
      );
    }
    body.replaceChildren(...[spacer(from * kRowHeight), ...lines, spacer((rows - to) * kRowHeight)].filter(Boolean));
    if (focused) body.querySelector(`[data-row="${active}"]`)?.focus({preventScroll: true});
  };
  const fit = () => {
    const wide = columns.reduce(
      (best, column, i) =>
        !column.isNumber && (best < 0 || (column.wish ?? 0) > (columns[best].wish ?? 0)) ? i : best,
      -1,
    );
    const unit = kCharWidth,
      room = width / unit,
      others = columns.reduce((sum, column, i) => sum + (i === wide ? 0 : column.chars + 3), 0);
    chars = columns.map((column, i) =>
      i === wide
        ? Math.max(Math.min(column.chars, Math.floor(room * 0.6)), Math.floor(room - others - 4))
        : column.chars,
    );
    widths.replaceChildren(
      ...columns.map((column, i) => el('col', i === wide ? {} : {style: {width: (column.chars + 3) * unit + 'px'}})),
    );
    table.style.minWidth = (others + (chars[wide] ?? 0) + 3) * unit + 'px';
  };
  const rowAt = (event) => /** @type {Element} */ (event.target).closest('tr[data-row]');
  const focusRow = (i) => {
    active = Math.max(0, Math.min(rows - 1, i));
    show(active);
    draw(true);
    body.querySelector(`[data-row="${active}"]`)?.focus({preventScroll: true});
  };
  const show = (i) => {
    const wanted = i * kRowHeight,
      room = box.clientHeight - kRowHeight - head.offsetHeight;
    if (wanted < top) box.scrollTop = top = wanted;
    else if (room > 0 && wanted > top + room) box.scrollTop = top = wanted - room;
  };
  box.addEventListener(
    'scroll',
    () => {
      top = box.scrollTop;
      draw();
    },
    {passive: true},
  );
  body.addEventListener('click', (event) => {
    const line = rowAt(event);
    if (!line || /** @type {Element} */ (event.target).closest('a, button, input') || String(getSelection())) return;
    active = Number(line.getAttribute('data-row'));
    onRow?.(active, event);
  });
  box.addEventListener('keydown', (event) => {
    if (event.target !== box && !rowAt(event)) return;
    const far = Math.max(1, Math.floor(box.clientHeight / kRowHeight) - 2);
    const steps = /** @type {Record<string, number>} */ ({
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: far,
      PageUp: -far,
      Home: -rows,
      End: rows,
    });
    if (event.key in steps) focusRow(event.target === box ? active : active + steps[event.key]);
    else if (
      event.key === 'Enter' &&
      event.target !== box &&
      rows &&
      !(/** @type {Element} */ (event.target).closest('a, button'))
    )
      onRow?.(active, event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  if (typeof ResizeObserver !== 'undefined')
    new ResizeObserver(() => {
      width = box.clientWidth;
      height = box.clientHeight;
      fit();
      draw(true);
    }).observe(box);
  return {
    element: box,
    // What follows is setRows(): it draws.
    /** @param {GridColumn[]} newColumns */
    setColumns(newColumns) {
      columns = newColumns;
      clear(head).append(
        ...columns.map((column) => {
          const text = [breakable(column.label), column.unit ? el('span', {class: 'unit'}, ' ' + column.unit) : null];
          return el(
            'th',
            {
              scope: 'col',
              class: [column.isNumber && 'number', column.isCited && 'cited'].filter(Boolean).join(' ') || null,
              title: column.note || null,
              'aria-sort': column.onSort ? (column.order ?? 'none') : null,
            },
            column.onSort ? el('button', {type: 'button', onclick: column.onSort}, text) : text,
          );
        }),
      );
      fit();
    },
    // Marks the order in the headers, which stay.
    /** @param {(column: number) => string} orderAt */
    setOrder(orderAt) {
      head.querySelectorAll('th').forEach((cell, i) => cell.setAttribute('aria-sort', orderAt(i)));
    },
    /** @param {number} number of rows @param {boolean} toTop */
    setRows(number, toTop = false) {
      rows = number;
      active = Math.max(0, Math.min(active, rows - 1));
      table.setAttribute('aria-rowcount', rows + 1);
      if (toTop) active = 0;
      if (toTop && top) box.scrollTop = top = 0;
      draw(true);
    },
    show: (i) => {
      active = i;
      show(i);
      draw(true);
    },
  };
}

/** @type {{csv: () => string, markdown: () => string, place: Element | null} | null} */
let copiedTable = null;

// Into the clipboard; where that is refused, into a box to copy from.
/** @param {string} text @param {string} what */
export async function copyText(text, what = 'Copied.') {
  try {
    await navigator.clipboard.writeText(text);
    say(what);
  } catch {
    const area = el('textarea', {
      class: 'copy-box',
      rows: 12,
      'aria-label': 'Text to copy',
      readonly: true,
      value: text,
    });
    openDrawer(
      'Copy',
      el('p', {}, 'The browser does not give the clipboard away. The text is selected: copy it with Ctrl+C.'),
      area,
    );
    area.focus();
    area.select();
  }
}

// The table in sight, by key.
/** @param {boolean} asMarkdown */
export function copyShownTable(asMarkdown) {
  if (!copiedTable?.place?.isConnected) return say('There is no table here.');
  copyText(
    asMarkdown ? copiedTable.markdown() : copiedTable.csv(),
    `Table copied as ${asMarkdown ? 'Markdown' : 'CSV'}.`,
  );
}

// Copy and download for any table.
/** @param {string} name of the file @param {() => [Column[], number[]]} shown @param {() => [Column[], number[]]} all */
export function copyButtons(name, shown, all = shown) {
  const source = {
    csv: () => csvOf(...shown()),
    markdown: () => markdownOf(...shown()),
    place: /** @type {Element | null} */ (null),
  };
  copiedTable = source;
  const download = () => {
    const address = URL.createObjectURL(new Blob([csvOf(...all())], {type: 'text/csv'}));
    el('a', {href: address, download: name.replace(/[^\w.-]+/g, '_') + '.csv'}).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  return (source.place = el(
    'span',
    {
      class: 'buttons',
      onpointerenter: () => {
        copiedTable = source;
      },
      onfocusin: () => {
        copiedTable = source;
      },
    },
    button('Copy CSV', () => copyText(source.csv(), 'Table copied as CSV.'), {title: 'Copy the rows as shown (c)'}),
    button('Copy Markdown', () => copyText(source.markdown(), 'Table copied as Markdown.'), {
      title: 'Copy the rows as shown (C)',
    }),
    button('Download', download, {title: 'All columns of these rows as a CSV file'}),
  ));
}

// A nested cell for reading.
/** @param {string} text */
function nestedDetails(text) {
  const value = parseNested(text);
  const line = (item) =>
    item && typeof item === 'object' && !Array.isArray(item)
      ? Object.entries(item)
          .map(
            ([name, v]) =>
              `${name}: ${Array.isArray(v) ? JSON.stringify(v) : typeof v === 'number' && !Number.isInteger(v) ? Number(v.toPrecision(6)) : v}`,
          )
          .join('\n')
      : JSON.stringify(item);
  if (
    Array.isArray(value) &&
    value.length &&
    value.every((item) => item && typeof item === 'object' && !Array.isArray(item))
  )
    return value.slice(0, 40).map((item) => el('pre', {}, visible(line(item)).replace(/\\u\{A\}/g, '\n')));
  return value && !Array.isArray(value) && typeof value === 'object'
    ? el('pre', {}, visible(line(value)).replace(/\\u\{A\}/g, '\n'))
    : traceText(text);
}

// All cells of a row in the drawer.
/** @param {TableData} table @param {number} row @param {any[]} more nodes on top */
export function openRow(table, row, ...more) {
  const title = table.columns.find(({kind, values}) => kind === 0 && values[row]) ?? table.columns[0];
  openDrawer(
    traceText(plainText(title.kind, title.values[row]), 160),
    ...more,
    detailList(
      table.columns.map((column) => {
        const value = column.values[row];
        if (value === null || value === '') return [column.name, null];
        const cell =
          column.kind === 4
            ? nestedDetails(value)
            : column.kind === 0
              ? traceText(value)
              : `${formatOf(column)(value)} ${shownUnit(column)}`.trim();
        return [column.name, column.description ? el('span', {title: column.description}, cell) : cell];
      }),
    ),
    button('Copy link', () =>
      copyText(location.href.split('#')[0] + hashOf('table', table.name, [['row', table.key(row)]]), 'Link copied.'),
    ),
  );
}

// The width a column wants.
/** @param {Column} column @param {(value: any) => string} format @param {string} name as shown */
function columnChars(column, format, name) {
  const isNumber = column.kind === 1 || column.kind === 2,
    unit = headerUnit(column),
    label = name.length + (unit ? unit.length + 1 : 0),
    longest = Math.max(...`${name} ${unit}`.split(/(?<=[_/:])|\s/).map((part) => part.length));
  let widest = 0;
  for (let i = 0; i < Math.min(column.values.length, 200); ++i)
    widest = Math.max(widest, isNumber ? format(column.values[i]).length : String(column.values[i] ?? '').length);
  const most = column.kind === 4 ? 28 : 32;
  return {
    chars: isNumber
      ? Math.max(7, widest, longest, Math.min(label + 2, 14))
      : Math.max(8, longest, Math.min(label + 2, 24), Math.min(widest, most)),
    wish: column.kind === 4 ? 0 : Math.min(widest, 200),
  };
}

/**
 * A table with its tools. Give `table`, or `columns` alone.
 * @param {{table?: TableData, columns?: any[], name?: string, caption?: string, shown?: string[], labels?: Record<string, string>, onRow?: (row: number) => void, marks?: Iterable<number>, cell?: Record<string, (value: any, row: number, chars: number) => any>,
 *   isKept?: boolean, filter?: string, tools?: any[]}} options isKept: filter, sort and row stand in the address
 * @returns {any} an element; narrow(test) shows only some rows, rows() gives those shown
 */
export function dataTable(options) {
  const given = options.table ?? {name: options.name ?? 'table', columns: options.columns ?? []};
  const table = tableOf({
    ...given,
    columns: given.columns.map((c) => ({
      unit: '',
      description: '',
      kind: typeof c.values[0] === 'number' ? 2 : 0,
      ...c,
    })),
  });
  if (options.table) (table.key = options.table.key ?? table.key), (table.rowOf = options.table.rowOf ?? table.rowOf);
  const caption = options.caption ?? table.description,
    isKept = options.isKept ?? false,
    labels = options.labels ?? {};
  const wanted = (options.shown ?? table.first ?? []).filter((name) => table.column(name));
  const chosen = new Set(wanted.length ? wanted : table.columns.map(({name}) => name));
  // A link may name the columns it is about.
  const cited = new Set(((isKept && state.get('cols')) || '').split('|').filter((name) => table.column(name)));
  for (const name of cited) chosen.add(name);
  const formats = new Map(table.columns.map((column) => [column, formatOf(column)])),
    widths = new Map();
  const marks = new Set(options.marks ?? []);
  let text = (isKept && state.get('f')) || options.filter || '',
    sort = (isKept && state.get('sort')) || '',
    selected = -1;
  /** @type {((row: number) => boolean) | null} */
  let narrowed = null;
  /** @type {number[]} */
  let rows = [];
  const inOrder = options.shown
    ? [
        ...wanted.map((name) => /** @type {Column} */ (table.column(name))),
        ...table.columns.filter(({name}) => !wanted.includes(name)),
      ]
    : table.columns;
  const shownColumns = () => inOrder.filter(({name}) => chosen.has(name));
  const shareColumn = () =>
    shownColumns().find(
      ({name, unit, kind, values}) =>
        kind === 2 &&
        unit === '%' &&
        /^percent/i.test(name) &&
        values.every((v) => v === null || (v >= 0 && v <= 100.01)),
    );
  const mostOf = ({values}) => values.reduce((most, v) => (v > most ? v : most), 1e-9);

  const tally = el('span', {class: 'tally', role: 'status'});
  const body = grid({
    label: caption || table.name,
    row: (i, chars) => {
      const row = rows[i];
      return {
        class: `${marks.has(row) ? 'marked' : ''} ${row === selected ? 'selected' : ''}`.trim() || undefined,
        selected: row === selected || marks.has(row),
        cells: shownColumns().map((column, j) => {
          const value = column.values[row],
            own = options.cell?.[column.name];
          if (own) return own(value, row, chars[j]);
          if (column.kind === 0 || column.kind === 4) return value === null ? '' : textCell(value, chars[j]);
          const shown = formats.get(column)?.(value) ?? '';
          return column === share && value !== null
            ? el('td', {class: 'number share', style: {backgroundSize: `${(value / most) * 100}% 20px`}}, shown)
            : shown;
        }),
      };
    },
    onRow: (i) => {
      selected = rows[i];
      body.setRows(rows.length);
      if (isKept) state.set({row: table.key(selected)});
      (options.onRow ?? ((row) => openRow(table, row)))(selected);
    },
  });
  const isDown = () => sort.startsWith('-');
  const sortBy = (column) => {
    sort = nextSort(sort, column.name, column.kind === 1 || column.kind === 2);
    if (isKept) state.set({sort});
    const columns = shownColumns();
    body.setOrder((i) => orderOf(sort, columns[i].name));
    update(true);
    say(sort ? `Sorted by ${column.name}, ${isDown() ? 'largest' : 'smallest'} first.` : 'In the order of the report.');
  };
  /** @type {Column | undefined} */
  let share;
  let most = 1;
  const layout = () => {
    share = shareColumn();
    most = share ? mostOf(share) : 1;
    body.setColumns(
      shownColumns().map((column) => ({
        label: labels[column.name] ?? column.name,
        unit: labels[column.name] ? '' : headerUnit(column),
        isCited: cited.has(column.name),
        note: [column.description, column.unit && column.unit !== 'id' ? `in ${column.unit}` : '']
          .filter(Boolean)
          .join(', '),
        isNumber: column.kind === 1 || column.kind === 2,
        ...(widths.get(column) ??
          widths
            .set(column, columnChars(column, formats.get(column) ?? String, labels[column.name] ?? column.name))
            .get(column)),
        order: orderOf(sort, column.name),
        onSort: () => sortBy(column),
      })),
    );
  };
  const update = (toTop = false) => {
    const test = filterOf(text, [
      ...shownColumns(),
      ...table.columns.filter(({name, kind}) => !chosen.has(name) && kind !== 4),
    ]);
    rows = [];
    for (let row = 0; row < table.rows; ++row) if ((!test || test(row)) && (!narrowed || narrowed(row))) rows.push(row);
    const by = table.column(sort.replace(/^-/, ''));
    if (by) rows = sortedRows(rows, by.values, isDown());
    tally.textContent =
      rows.length === table.rows
        ? `${count(table.rows)} ${table.rows === 1 ? 'row' : 'rows'}`
        : `${count(rows.length)} of ${count(table.rows)} rows`;
    body.setRows(rows.length, toTop);
  };
  const input = el('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Filter: words, or ms>1',
    'aria-label': `Filter ${table.name}`,
    value: text,
    spellcheck: 'false',
    oninput: () => {
      text = input.value;
      if (isKept) state.set({f: text});
      update(true);
    },
  });
  const chooser =
    table.columns.length > 3 &&
    el(
      'details',
      {class: 'menu'},
      el('summary', {class: 'button'}, 'Columns'),
      el(
        'div',
        {class: 'menu-list'},
        table.columns.map((column) =>
          el(
            'label',
            {title: column.description},
            el('input', {
              type: 'checkbox',
              checked: chosen.has(column.name),
              onchange: (event) => {
                if (event.target.checked) chosen.add(column.name);
                else if (chosen.size > 1) chosen.delete(column.name);
                else event.target.checked = true;
                layout();
                update();
              },
            }),
            visible(column.name),
          ),
        ),
      ),
    );
  layout();
  update();
  const element = el(
    'div',
    {class: 'table-view'},
    caption
      ? el(
          'p',
          {class: 'caption'},
          caption,
          table.allRows > table.rows
            ? ` First ${count(table.rows)} of ${count(table.allRows)} rows; all of them: -o report.xlsx`
            : null,
        )
      : null,
    el(
      'div',
      {class: 'tools'},
      input,
      tally,
      options.tools,
      chooser,
      copyButtons(
        table.name,
        () => [shownColumns(), rows],
        () => [table.columns, rows],
      ),
    ),
    body.element,
  );
  const wantedRow = isKept && state.get('row');
  const wantedMarks = ((isKept && state.get('mark')) || '')
    .split(',')
    .filter(Boolean)
    .map(table.rowOf)
    .filter((row) => row >= 0);
  for (const row of wantedMarks) marks.add(row);
  if (wantedRow) {
    selected = table.rowOf(wantedRow);
    if (selected < 0) say('The row of this link is not in the table.');
  }
  const first = rows.findIndex((row) => row === selected || marks.has(row));
  if (first >= 0)
    requestAnimationFrame(() => {
      body.show(first);
      const column = body.element.querySelector('th.cited');
      if (column) body.element.scrollLeft = column.offsetLeft + column.offsetWidth - body.element.clientWidth + 24;
    });
  return Object.assign(element, {
    narrow: (test) => {
      narrowed = test;
      update(true);
    },
    rows: () => rows,
    mark: (some) => {
      marks.clear();
      for (const row of some) marks.add(row);
      update();
    },
  });
}

// A picture and the table with the same content; the button and the key `t` swap them.
/** @param {Element} picture @param {() => any} makeTable a TableData, or {columns, caption}; may be a promise @param {string} label of the picture */
export function pictureWithTable(picture, makeTable, label = 'picture') {
  const place = el('div', {class: 'picture-place'}, picture);
  let isTable = false;
  const toggle = button(
    'Show as a table',
    async () => {
      isTable = !isTable;
      const made = isTable ? await makeTable() : null;
      place.replaceChildren(made ? dataTable(made.column ? {table: made} : made) : picture);
      toggle.textContent = isTable ? `Show the ${label}` : 'Show as a table';
      say(isTable ? 'Shown as a table.' : 'Shown as a picture.');
    },
    {class: 'button quiet picture-toggle', title: 'Swap the picture and its table (t)'},
  );
  return el('div', {class: 'picture'}, place, toggle);
}
