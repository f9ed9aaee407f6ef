// main.js: the frame around the views: header, tabs, address, keys, theme.
import {el, clear, button, traceText} from './dom.js';
import {openPage, PageError} from './data.js';
import {visible} from './text.js';
import {state, readRoute, go, say, hashOf} from './route.js';
import {closeDrawer} from './drawer.js';
import {copyShownTable} from './table.js';
import {searchBox} from './search.js';
import {overviewView} from './view_overview.js';
import {timelineView} from './view_timeline.js';
import {treeView} from './view_tree.js';
import {opsView} from './view_ops.js';
import {kernelsView} from './view_kernels.js';
import {rooflineView} from './view_roofline.js';
import {ranksView} from './view_ranks.js';
import {diffView} from './view_diff.js';
import {memoryView} from './view_memory.js';
import {tablesView} from './view_tables.js';
import {aboutView} from './view_about.js';

/** @typedef {import('./data.js').Page} Page @typedef {{id: string, title: string, isThere: (page: Page) => boolean, draw: (page: Page, into: HTMLElement, state: any) => Promise<void>, keys?: (event: KeyboardEvent) => boolean | void, leave?: () => void}} View */

/** @type {View[]} in the order of the tabs */
const kViews = [
  overviewView,
  timelineView,
  treeView,
  opsView,
  kernelsView,
  rooflineView,
  ranksView,
  diffView,
  memoryView,
  tablesView,
  aboutView,
];

const kKeys = [
  ['1 … 9', 'view by its place'],
  ['/', 'search'],
  ['n N', 'next, previous match'],
  ['w s a d', 'zoom and pan the timeline; arrows too'],
  ['f', 'fit the selection; twice: everything'],
  [', .', 'previous, next slice'],
  ['r', 'selection to range'],
  ['Enter', 'details of what has the focus'],
  ['t', 'picture or its table'],
  ['c C', 'copy the table as CSV, Markdown'],
  ['Esc', 'clear, close the details'],
  ['?', 'this list'],
];

/** @type {View | null} */
let shownView = null;
let drawnTimes = 0;

/** @returns {string} */
function wantedTheme() {
  let kept = null;
  try {
    kept = localStorage.getItem('tracelens-theme');
  } catch {
    /* a page from disk may have no storage */
  }
  return kept === 'dark' || kept === 'light'
    ? kept
    : matchMedia('(prefers-color-scheme: dark)').matches
      ? 'dark'
      : 'light';
}

/** @param {string} theme */
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById('theme')?.setAttribute('aria-pressed', String(theme === 'dark'));
}

/** @param {HTMLDialogElement} dialog */
function helpDialog(dialog) {
  if (dialog.open) return dialog.close();
  clear(dialog).append(
    el('h2', {id: 'help-title'}, 'Keys'),
    el(
      'dl',
      {class: 'keys'},
      kKeys.map(([keys, does]) => [
        el(
          'dt',
          {},
          keys.split(' ').map((key) => [key === '…' ? key : el('kbd', {}, key), ' ']),
        ),
        el('dd', {}, does),
      ]),
    ),
    el(
      'p',
      {class: 'muted'},
      'Keys rest while a text field has the focus. The address of the page holds what is shown: copy it to share a view.',
    ),
    button('Close', () => dialog.close(), {autofocus: true}),
  );
  dialog.showModal();
}

// What the page is about: its own title, or the file it was made from.
/** @param {any} manifest */
function titleOf(manifest) {
  const files = manifest.source.map((file) => file.replace(/\/+$/, '').split(/[\\/]/).pop());
  return (manifest.title && !/^(TraceLens |Communication of )/.test(manifest.title)) || !files.length
    ? manifest.title || 'TraceLens'
    : files.slice(0, 2).join(' → ') + (files.length > 2 ? ` and ${files.length - 2} more` : '');
}

/** @param {Element} into @param {unknown} error */
function showError(into, error) {
  into.append(
    el(
      'p',
      {class: 'notice', role: 'alert'},
      error instanceof PageError
        ? error.message
        : 'This view cannot be shown: the page may be damaged. Please write it again with tracelens.',
    ),
  );
}

/** @param {Page} page @param {View[]} views @param {HTMLElement} main */
async function drawView(page, views, main) {
  readRoute(location.hash);
  const view = views.find(({id}) => id === state.view) ?? views[0];
  if (view.id !== state.view) {
    say(`There is no view “${visible(state.view)}” in this page.`);
    readRoute(hashOf(view.id));
  }
  const turn = ++drawnTimes,
    isSame = shownView === view;
  shownView?.leave?.();
  shownView = view;
  closeDrawer();
  for (const link of document.querySelectorAll('.tabs a')) {
    const isThis = link.getAttribute('href') === '#' + view.id;
    if (isThis) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    if (isThis && link.parentElement) link.parentElement.scrollLeft = /** @type {HTMLElement} */ (link).offsetLeft - 80;
  }
  const into = el('div', {class: 'view view-' + view.id});
  clear(main).append(into);
  if (!isSame) scrollTo(0, 0);
  try {
    await view.draw(page, into, state);
  } catch (error) {
    if (turn === drawnTimes) showError(into, error);
  }
  if (turn === drawnTimes) main.dataset.drawn = view.id; // tests wait for it
}

/** @param {Page} page @param {HTMLElement} app */
function startPage(page, app) {
  const {manifest} = page,
    views = kViews.filter((view) => view.isThere(page));
  const dialog = el('dialog', {'aria-labelledby': 'help-title'}),
    main = el('main', {id: 'main', tabindex: '-1'});
  const help = () => helpDialog(dialog),
    search = searchBox(page);
  const swapTheme = () => {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('tracelens-theme', theme);
    } catch {
      /* then it is not remembered */
    }
    setTheme(theme);
    drawView(page, views, main); // canvases take their colours when drawn
  };
  app.append(
    button('Skip to the content', () => main.focus(), {class: 'button skip'}),
    el(
      'header',
      {class: 'top'},
      el(
        'a',
        {class: 'brand', href: '#overview', 'aria-label': 'TraceLens, overview'},
        el('span', {class: 'mark', 'aria-hidden': 'true'}, el('i'), el('i'), el('i')),
      ),
      el('h1', {}, traceText(titleOf(manifest), 70)),
      search.element,
      button('◐', swapTheme, {
        id: 'theme',
        class: 'button quiet icon',
        'aria-label': 'Dark theme',
        title: 'Light or dark',
      }),
      button('?', help, {class: 'button quiet icon', 'aria-label': 'Keys and help', title: 'Keys (?)'}),
    ),
    el(
      'nav',
      {class: 'tabs', 'aria-label': 'Views'},
      views.map(({id, title}, i) => el('a', {href: '#' + id, title: i < 9 ? `${title} (${i + 1})` : title}, title)),
    ),
    main,
    el('aside', {id: 'drawer', 'aria-label': 'Details', hidden: true, tabindex: '-1'}),
    el(
      'footer',
      {class: 'bottom'},
      el('span', {id: 'status', role: 'status', 'aria-live': 'polite'}),
      el('span', {}, 'TraceLens ' + (manifest.version ?? '')),
    ),
    dialog,
  );
  setTheme(wantedTheme());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    setTheme(wantedTheme());
    drawView(page, views, main);
  });
  addEventListener('hashchange', () => drawView(page, views, main));
  document.addEventListener('click', (event) => {
    for (const menu of document.querySelectorAll('details.menu[open]'))
      if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute('open');
  });
  document.addEventListener('keydown', (event) => {
    const at = /** @type {HTMLElement} */ (event.target),
      isTyping = at.matches?.('input:not([type=checkbox]), textarea, select') || dialog.open;
    if (event.key === 'Escape' && !dialog.open) {
      const menu = document.querySelector('details.menu[open]');
      if (menu) return menu.removeAttribute('open');
      if (closeDrawer()) return;
    }
    if (isTyping || event.altKey || event.metaKey || (event.ctrlKey && !shownView?.keys)) return;
    if (!event.ctrlKey) {
      if (event.key === '/') search.focus();
      else if (event.key === '?') help();
      else if (/^[1-9]$/.test(event.key) && views[Number(event.key) - 1]) go('#' + views[Number(event.key) - 1].id);
      else if (event.key === 'c' || event.key === 'C') copyShownTable(event.key === 'C');
      else if (event.key === 't')
        /** @type {HTMLElement | null} */ ((at.closest('.picture') ?? main).querySelector('.picture-toggle'))?.click();
      else if (shownView?.keys?.(event) !== true) return;
    } else if (shownView?.keys?.(event) !== true) return;
    event.preventDefault();
  });
  drawView(page, views, main);
}

{
  const app = /** @type {HTMLElement} */ (document.getElementById('app'));
  document.documentElement.dataset.theme = wantedTheme();
  try {
    startPage(openPage(), app);
  } catch (error) {
    showError(app, error);
  }
}
