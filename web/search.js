// search.js: one box that finds kernels, ops, modules, findings, tables and columns.
import {el, clear, traceText} from './dom.js';
import {time, count} from './text.js';
import {state, go, hashOf, say} from './route.js';

/** @typedef {{group: string, name: string, ns: number, hash: string, low: string}} Found */

const kMostHits = 200,
  kMostShown = 8;

// Everything that has a name.
/** @param {import('./data.js').Page} page @returns {Promise<Found[]>} */
async function searchIndex(page) {
  /** @type {Found[]} */
  const all = [];
  const add = (group, name, ns, hash) => {
    if (name) all.push({group, name, ns, hash, low: name.toLowerCase()});
  };
  const names = async (table, column, time_column, unit, group, view) => {
    const data = await page.table(table),
      cells = data?.column(column)?.values,
      times = data?.column(time_column)?.values;
    if (!cells) return;
    const sums = new Map();
    cells.forEach((name, row) => sums.set(name, (sums.get(name) ?? 0) + (times?.[row] ?? 0) * unit));
    for (const [name, ns] of sums) add(group, name ?? '', ns, hashOf(view, '', [['f', name]]));
  };
  await names('kernel_summary', 'Kernel name', 'Kernel duration (µs)_sum', 1e3, 'Kernels', 'kernels');
  await names('kernel_summary', 'name', 'Total Kernel Time (ms)', 1e6, 'Kernels', 'kernels');
  await names('unified_perf_summary', 'name', 'Kernel Time (µs)_sum', 1e3, 'Ops', 'ops');
  if (!page.hasTable('unified_perf_summary'))
    await names('ops_summary', 'name', 'total_direct_kernel_time_ms', 1e6, 'Ops', 'ops');
  await names('hlo_ops', 'HLO op', 'GPU time (µs)_sum', 1e3, 'Ops', 'ops');
  const nodes = await page.nodes();
  nodes.name.forEach((name, i) => {
    if (nodes.level[i] < 2)
      add(nodes.level[i] === 0 ? 'Modules' : 'Annotations', name, nodes.gpu[i], hashOf('tree', '', [['node', i]]));
  });
  for (const finding of page.manifest.findings?.length
    ? page.manifest.findings
    : (page.manifest.overview?.causes ?? []))
    add('Findings', `${finding.title} (${finding.id})`, 0, hashOf('overview', '', [['finding', finding.id]]));
  for (const {name} of page.manifest.tables) {
    add('Tables', name, 0, hashOf('table', name));
    for (const column of (await page.table(name))?.columns ?? [])
      add('Columns', `${column.name} — ${name}`, 0, hashOf('table', name));
  }
  return all;
}

// Words in any order, all must occur.
/** @param {Found[]} all @param {string} text */
export function searchHits(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length ? all.filter(({low}) => words.every((word) => low.includes(word))) : [];
}

/** @param {import('./data.js').Page} page */
export function searchBox(page) {
  /** @type {Promise<Found[]> | null} */
  let index = null;
  let picked = -1;
  const list = el('div', {class: 'hits', id: 'hits', role: 'listbox', 'aria-label': 'Found', hidden: true});
  const input = el('input', {
    type: 'search',
    class: 'search-input',
    placeholder: 'Search',
    'aria-label': 'Search kernels, ops, modules, tables',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'hits',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => update(),
    onfocus: () => input.value && update(),
    onkeydown: (event) => keys(event),
  });
  const close = () => {
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const open = (hit) => {
    close();
    input.blur();
    go(hit.hash);
  };
  const update = async () => {
    const text = input.value.trim();
    // The timeline outlines what matches; n and N walk there.
    if (state.view === 'timeline') document.dispatchEvent(new CustomEvent('tl-search', {detail: text}));
    if (!text) return close();
    const hits = searchHits(await (index ??= searchIndex(page)), text);
    if (input.value.trim() !== text) return;
    const shown = hits.slice(0, kMostHits),
      groups = new Map();
    for (const hit of shown) groups.set(hit.group, [...(groups.get(hit.group) ?? []), hit]);
    picked = -1;
    clear(list);
    let number = 0;
    for (const [group, found] of groups) {
      const sum = found.reduce((ns, hit) => ns + hit.ns, 0),
        isTime = sum > 0 && (group === 'Kernels' || group === 'Ops'); // modules stand in each other: no sum
      list.append(
        el(
          'div',
          {role: 'group', 'aria-label': group},
          el(
            'div',
            {class: 'hit-group', role: 'presentation'},
            el('span', {}, group),
            el('span', {}, count(found.length) + (isTime ? ' · ' + time(sum) : '')),
          ),
          found.slice(0, groups.size === 1 ? 40 : kMostShown).map((hit) =>
            el(
              'div',
              {
                class: 'hit',
                role: 'option',
                id: `hit-${number++}`,
                'aria-selected': 'false',
                onpointerdown: (event) => {
                  event.preventDefault();
                  open(hit);
                },
              },
              traceText(hit.name, 64),
              hit.ns ? el('span', {class: 'hit-time'}, time(hit.ns)) : null,
            ),
          ),
        ),
      );
    }
    if (!hits.length)
      list.append(
        el(
          'div',
          {class: 'hit-none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false'},
          'Nothing has this name.',
        ),
      );
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    say(hits.length > kMostHits ? `More than ${kMostHits} found; ${kMostHits} shown.` : `${hits.length} found.`);
  };
  const keys = (event) => {
    const options = [...list.querySelectorAll('.hit')];
    if (event.key === 'Escape') {
      if (list.hidden) {
        input.value = '';
        input.blur();
        update();
      } else close();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && options.length) {
      picked = (picked + (event.key === 'ArrowDown' ? 1 : options.length + (picked < 0 ? 0 : -1))) % options.length;
      options.forEach((option, i) => option.setAttribute('aria-selected', String(i === picked)));
      options[picked].scrollIntoView({block: 'nearest'});
      input.setAttribute('aria-activedescendant', options[picked].id);
    } else if (event.key === 'Enter' && options.length) {
      if (state.view === 'timeline' && picked < 0) {
        close();
        input.blur();
      } else options[Math.max(0, picked)].dispatchEvent(new PointerEvent('pointerdown', {cancelable: true}));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const element = el(
    'div',
    {
      class: 'search',
      role: 'search',
      onfocusout: (event) => {
        if (!element.contains(/** @type {Node} */ (event.relatedTarget))) close();
      },
    },
    input,
    el('kbd', {'aria-hidden': 'true'}, '/'),
    list,
  );
  return {
    element,
    focus: () => {
      input.focus();
      input.select();
    },
  };
}
