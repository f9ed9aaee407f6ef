// view_ops.js: ops, their distinct arguments, and the kernels of those, in one table of three levels.
import {el, button, traceText} from './dom.js';
import {formatOf, shapesText, typesText, parseNested, count, time, fixed, visible, workName} from './text.js';
import {grid, filterOf, sortedRows, nextSort, orderOf, copyButtons, openRow, copyText} from './table.js';
import {hashOf, say} from './route.js';

/** @typedef {import('./data.js').Page} Page @typedef {import('./data.js').TableData} TableData */

// Where the figures stand: in the tables of PyTorch, of JAX, and of traces that have no more than kernels.
const kOpSources = [
  {
    table: 'unified_perf_summary',
    name: 'name',
    kind: 'op category',
    calls: 'operation_count',
    us: 'Kernel Time (µs)_sum',
    share: 'Percentage (%)',
    flops: 'TFLOPS/s_mean',
    memory: 'TB/s_mean',
    roof: 'Pct Roofline_mean',
    shapes: 'Input Dims',
    types: 'Input type',
    kernels: 'kernel_details_summary',
    uid: 'ex_UID',
  },
  {
    table: 'ops_unique_args',
    name: 'name',
    kind: 'op category',
    calls: 'operation_count',
    us: 'total_direct_kernel_time_sum',
    share: 'Percentage (%)',
    shapes: 'Input Dims',
    types: 'Input type',
    kernels: 'kernel_details_summary',
    uid: 'ex_UID',
  },
  {
    table: 'hlo_ops',
    name: 'HLO op',
    kind: 'kind',
    calls: 'runs',
    us: 'GPU time (µs)_sum',
    share: 'Percentage (%)',
    flops: 'TFLOPS/s',
    memory: 'TB/s',
    roof: 'Pct Roofline',
    more: 'scope',
    kernels: 'kernels',
  },
  {
    table: 'ops_summary',
    name: 'name',
    kind: 'Categories',
    calls: 'Count',
    us: 'total_direct_kernel_time_sum',
    share: 'Percentage (%)',
  },
];
const kOpColumns = [
  ['calls', '', 1],
  ['ms', 'ms', 2],
  ['%', '%', 2],
  ['TFLOP/s', 'TFLOP/s', 2],
  ['TB/s', 'TB/s', 2],
  ['of roof', '%', 2],
];

// The rate of several shapes: by the time of those that have one.
/** @param {{figures: (number | null)[]}[]} args @param {number} i */
export function meanByTime(args, i) {
  let ms = 0,
    sum = 0;
  for (const {figures} of args) {
    if (figures[i] === null) continue;
    ms += figures[1] ?? 0;
    sum += (figures[i] ?? 0) * (figures[1] ?? 0);
  }
  return ms > 0 ? sum / ms : null;
}

// One row per op with its distinct arguments; the arguments' own figures are the table's.
/** @param {TableData} table @param {any} source */
export function opRows(table, source) {
  const cells = (column) => table.column(source[column])?.values ?? [];
  const names = cells('name'),
    kinds = cells('kind'),
    shapes = cells('shapes'),
    types = cells('types'),
    more = cells('more');
  const figures = [
    cells('calls'),
    cells('us').map((us) => (us === null ? null : us / 1e3)),
    cells('share'),
    cells('flops'),
    cells('memory'),
    cells('roof'),
  ];
  const args = names.map((name, row) => ({
    level: 2,
    row,
    name,
    kind: workName(kinds[row] ?? ''),
    text:
      [shapes[row] && shapesText(shapes[row]), types[row] && typesText(types[row]), more[row]]
        .filter(Boolean)
        .join('   ') || 'no shapes',
    figures: figures.map((values) => values[row] ?? null),
  }));
  const groups = new Map();
  for (const arg of args) groups.set(arg.name, [...(groups.get(arg.name) ?? []), arg]);
  const ops = [...groups].map(([name, of]) => ({
    level: 1,
    row: of[0].row,
    name: name ?? '',
    kind: of[0].kind,
    text: name ?? '',
    args: of,
    figures: kOpColumns.map((_, i) =>
      of.length === 1
        ? of[0].figures[i]
        : i > 2
          ? meanByTime(of, i)
          : of.reduce((sum, arg) => sum + (arg.figures[i] ?? 0), 0),
    ),
  }));
  return {
    ops: sortedRows(
      ops.map((_, i) => i),
      ops.map((op) => op.figures[1]),
      true,
    ).map((i) => ops[i]),
    args,
  };
}

/** @param {any} cell the kernels of a call: what one run launches @returns {{name: string, count: number, mean: number | null, sum: number | null, stream: any}[]} */
function kernelsOf(cell) {
  const list = typeof cell === 'string' ? parseNested(cell) : null;
  if (Array.isArray(list))
    return list
      .filter((k) => k && typeof k.name === 'string')
      .map((k) => ({
        name: k.name,
        count: k.count,
        mean: k.mean_duration_us ?? null,
        sum: k.total_duration_us ?? null,
        stream: k.stream,
      }));
  return list
    ? Object.entries(list).map(([name, times]) => ({name, count: Number(times), mean: null, sum: null, stream: null}))
    : [];
}

// The row of a link, which may name it in another table of ops.
/** @param {Page} page @param {string} key @param {TableData} table @param {any} source */
async function wantedRow(page, key, table, source) {
  if (table.rowOf(key) >= 0) return table.rowOf(key);
  for (const other of kOpSources) {
    const theirs = await page.table(other.table),
      row = theirs?.rowOf(key) ?? -1;
    if (row < 0 || !theirs) continue;
    const cell = (data, column, at) => data.column(column)?.values[at] ?? '',
      same = (column, at) => cell(theirs, other[column], row) === cell(table, source[column], at);
    const rows = Array.from({length: table.rows}, (_, at) => at).filter((at) => same('name', at));
    return rows.find((at) => same('shapes', at) && same('types', at)) ?? rows[0] ?? -1;
  }
  return -1;
}

export const opsView = {
  id: 'ops',
  title: 'Ops',
  isThere: (page) => page.manifest.verb !== 'compare' && kOpSources.some(({table}) => page.hasTable(table)), // a comparison has them side by side in Diff
  /** @param {Page} page @param {HTMLElement} into @param {any} state */
  async draw(page, into, state) {
    const source = kOpSources.find(({table}) => page.hasTable(table)) ?? kOpSources[0],
      table = await page.table(source.table);
    if (!table) return;
    const {ops, args} = opRows(table, source),
      isFlat = ops.length === args.length;
    const columnsOf = (rows) => [
      {
        name: 'op',
        unit: '',
        description: '',
        kind: 0,
        values: rows.map((row) => (row.level === 1 ? row.name : `${row.name} ${row.text}`)),
      },
      {name: 'category', unit: '', description: '', kind: 0, values: rows.map((row) => row.kind)},
      ...kOpColumns.map(([name, unit, kind], i) => ({
        name: name === 'of roof' ? 'roof' : String(name),
        unit: String(unit),
        description: '',
        kind: Number(kind),
        values: rows.map((row) => row.figures[i]),
      })),
    ];
    const argColumns = columnsOf(args),
      formats = kOpColumns.map(([, unit, kind], i) =>
        formatOf({name: '', unit: String(unit), kind: Number(kind), values: args.map((arg) => arg.figures[i])}),
      );
    const has = kOpColumns.map((_, i) => args.some((arg) => arg.figures[i] !== null));
    const kinds = [...new Set(args.map(({kind}) => kind).filter(Boolean))];
    const wanted = state.get('row') ? await wantedRow(page, state.get('row'), table, source) : -1;
    if (state.get('row') && wanted < 0) say('The op of this link is not in this report.');
    const open = new Set(wanted >= 0 ? [args[wanted].name] : []),
      openArgs = new Set(wanted >= 0 ? [wanted] : []),
      chips = new Set((state.get('kind') ?? '').split(',').filter((kind) => kinds.includes(kind)));
    let text = state.get('f') ?? '',
      sort = state.get('sort') ?? '',
      most = 1e-9;
    /** @type {any[]} */
    let lines = [];
    /** @type {any[]} */
    let shownArgs = args;

    const ordered = (rows) => {
      const key = sort.replace(/^-/, ''),
        column = columnsOf(rows).find(({name}) => name === key);
      return column
        ? sortedRows(
            rows.map((_, i) => i),
            column.values,
            sort.startsWith('-'),
          ).map((i) => rows[i])
        : rows;
    };
    const update = (toTop = false) => {
      const test = filterOf(text, argColumns),
        isIn = (arg) => (!test || test(arg.row)) && (!chips.size || chips.has(arg.kind));
      lines = [];
      shownArgs = [];
      let opsShown = 0;
      for (const op of ordered(isFlat ? args.map((arg) => ({...arg, level: 1, text: arg.name, args: [arg]})) : ops)) {
        const matching = op.args.filter(isIn);
        if (!matching.length) continue;
        ++opsShown;
        lines.push(op);
        const below = ordered(matching);
        shownArgs.push(...below);
        if (!open.has(op.name)) continue;
        for (const arg of below) {
          lines.push(arg);
          if (!openArgs.has(arg.row) || !source.kernels) continue;
          for (const kernel of kernelsOf(table.column(source.kernels)?.values[arg.row]))
            lines.push({level: 3, row: arg.row, kernel});
        }
      }
      most = Math.max(1e-9, ...lines.filter(({level}) => level === 1).map((op) => op.figures[2] ?? 0));
      tally.textContent = `${count(opsShown)} ops${isFlat ? '' : `, ${count(shownArgs.length)} with distinct arguments`}`;
      body.setRows(lines.length, toTop);
    };
    const toggle = (line) => {
      const [set, key] = line.level === 1 ? [open, line.name] : [openArgs, line.row];
      if (set.has(key)) set.delete(key);
      else set.add(key);
      update();
    };
    const details = (arg) => {
      state.set({row: table.key(arg.row)});
      const file = page.manifest.source[0] ?? 'TRACE',
        quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`);
      const uid = source.uid ? table.column(source.uid)?.values[arg.row] : null,
        command = `tracelens replay ${quoted(file)} ${typeof uid === 'number' ? `--uid ${uid}` : `--name ${quoted(arg.name)}`} -o replay.py`;
      openRow(
        table,
        arg.row,
        el(
          'p',
          {class: 'buttons'},
          page.manifest.roofline &&
            el('a', {class: 'button', href: hashOf('roofline', '', [['row', table.key(arg.row)]])}, 'On the roofline'),
          page.manifest.lanes.length > 0 &&
            el('a', {class: 'button', href: hashOf('timeline', '', [['q', arg.name]])}, 'On the timeline'),
          page.hasTable(arg.kind) &&
            el('a', {class: 'button', href: hashOf('table', arg.kind)}, `Table ${visible(arg.kind)}`),
          page.manifest.source.length === 1 &&
            button('Copy replay command', () => copyText(command, 'Command copied.'), {title: visible(command)}),
        ),
      );
    };
    const shares = (value, shown, of) =>
      value === null
        ? ''
        : el(
            'td',
            {class: 'number share', style: {backgroundSize: `${Math.min(100, (value / of) * 100)}% 20px`}},
            shown,
          );
    // On a narrow screen time and share come before the category, which is then out of sight.
    const isNarrow = matchMedia('(max-width: 640px)').matches,
      first = ['op', 'ms', '%', 'of roof'],
      columns = /** @type {[string, string, number][]} */ ([
        ['op', '', 0],
        ['category', '', 0],
        ...kOpColumns.filter((_, i) => has[i]),
      ]),
      order = columns.map((_, i) => i);
    if (isNarrow) {
      const place = (i) => (first.includes(columns[i][0]) ? first.indexOf(columns[i][0]) : first.length);
      order.sort((a, b) => place(a) - place(b) || a - b);
    }
    const body = grid({
      label: 'Ops, their arguments and kernels',
      isTree: true,
      row: (i, chars) => {
        const line = row(i, chars[0], chars[order.indexOf(1)]);
        return {...line, cells: order.map((at) => line.cells[at])};
      },
      onRow: (i) => {
        const line = lines[i];
        if (line.level === 3) return details(args[line.row]);
        if (line.level === 1 && !open.has(line.name) && line.args.length === 1) openArgs.add(line.args[0].row);
        toggle(line);
      },
    });
    /** @param {number} i @param {number} opRoom characters @param {number} kindRoom likewise */
    const row = (i, opRoom, kindRoom) => {
      const line = lines[i];
      if (line.level === 3) {
        const {name, count: times, mean, sum, stream} = line.kernel,
          figures = [times ? count(times) : '', sum === null ? '' : formats[1](sum / 1e3), '', '', '', ''];
        return {
          class: 'level-3',
          level: 3,
          cells: [
            el(
              'td',
              {},
              el('span', {class: 'twist'}),
              el('span', {class: 'twist'}),
              el('a', {href: hashOf('kernels', '', [['f', name]])}, traceText(name, opRoom - 28)),
              mean === null ? '' : ` ${time(mean * 1e3)} each`,
              stream === null || stream === undefined ? '' : ` · stream ${stream}`,
            ),
            page.manifest.lanes.length > 0 && el('a', {href: hashOf('timeline', '', [['q', name]])}, 'timeline'),
            ...figures.filter((_, j) => has[j]),
          ],
        };
      }
      const isOpen = line.level === 1 ? open.has(line.name) : openArgs.has(line.row),
        room = opRoom - 2 * line.level - 2;
      return {
        class: `level-${line.level}${line.row === wanted && line.level === 2 ? ' selected' : ''}`,
        level: line.level,
        expanded: isOpen,
        cells: [
          el(
            'td',
            {},
            line.level === 2 && el('span', {class: 'twist'}),
            el('span', {class: 'twist', 'aria-hidden': 'true'}, isOpen ? '▾' : '▸'),
            traceText(line.text, room),
            line.level === 1 &&
              el(
                'span',
                {class: 'muted small'},
                isFlat
                  ? ['  ', traceText(line.args[0].text, Math.max(12, room - line.text.length - 4))]
                  : line.args.length > 1 && ` ${line.args.length}`,
              ),
          ),
          line.level === 1
            ? traceText(line.kind, kindRoom)
            : button('details', () => details(line), {
                class: 'button quiet',
                'aria-label': `Details of ${visible(line.name)} ${visible(line.text)}`,
              }),
          ...line.figures
            .map((value, j) =>
              j === 2
                ? shares(value, formats[2](value), most)
                : j === 5 && value !== null
                  ? shares(value, fixed(value, 1), 100)
                  : formats[j](value),
            )
            .filter((_, j) => has[j]),
        ],
      };
    };
    const layout = () =>
      body.setColumns(
        order.map((i) => {
          const [name, unit] = columns[i],
            key = name === 'of roof' ? 'roof' : name;
          return {
            label: name,
            unit: name === 'of roof' ? '%' : '',
            note: !i
              ? 'opens to its arguments, and those to their kernels'
              : i > 4
                ? `${unit ? `in ${unit}; ` : ''}of several shapes the mean by time`
                : unit
                  ? `in ${unit}`
                  : '',
            isNumber: i > 1,
            wish: i ? 0 : 1,
            chars: i === 0 ? (isNarrow ? 16 : 36) : i === 1 ? 14 : isNarrow ? 6 : 8,
            order: orderOf(sort, key),
            onSort: () => {
              sort = nextSort(sort, key, i > 1);
              state.set({sort});
              layout();
              update(true);
            },
          };
        }),
      );
    const tally = el('span', {class: 'tally', role: 'status'});
    const input = el('input', {
      type: 'search',
      class: 'filter',
      value: text,
      placeholder: 'Filter: words, ms>1, roof<50',
      'aria-label': 'Filter ops',
      spellcheck: 'false',
      oninput: () => {
        text = input.value;
        state.set({f: text});
        update(true);
      },
    });
    const openAll = button('Open all', () => {
      const isOpen = open.size > 0;
      open.clear();
      if (!isOpen) for (const op of ops) open.add(op.name);
      openAll.textContent = isOpen ? 'Open all' : 'Close all';
      update();
    });
    into.append(
      el(
        'p',
        {class: 'caption'},
        table.description,
        table.allRows > table.rows
          ? `. First ${count(table.rows)} of ${count(table.allRows)} rows; all of them: -o report.xlsx`
          : '',
      ),
      kinds.length > 1 && kinds.length < 40
        ? el(
            'div',
            {class: 'chips', role: 'group', 'aria-label': 'Categories'},
            kinds.map((kind) =>
              button(
                traceText(kind, 30),
                (event) => {
                  if (chips.has(kind)) chips.delete(kind);
                  else chips.add(kind);
                  /** @type {Element} */ (event.currentTarget).setAttribute('aria-pressed', String(chips.has(kind)));
                  state.set({kind: [...chips].join(',')});
                  update(true);
                },
                {class: 'button chip', 'aria-pressed': String(chips.has(kind))},
              ),
            ),
          )
        : '',
      el(
        'div',
        {class: 'tools'},
        input,
        tally,
        openAll,
        copyButtons(
          'ops',
          () => [argColumns, shownArgs.map(({row}) => row)],
          () => [table.columns, shownArgs.map(({row}) => row)],
        ),
      ),
      body.element,
    );
    layout();
    update();
    const at = lines.findIndex((line) => line.row === wanted && line.level === 2);
    if (at >= 0) requestAnimationFrame(() => body.show(at));
  },
};
