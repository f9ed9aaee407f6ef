// drawer.js: details of one thing, at the right, or at the bottom of a narrow window.
import {el, clear, button} from './dom.js';
import {visible} from './text.js';

/** @type {Element | null} */
let drawerOpener = null;

/** @param {string | Node} title @param {import('./dom.js').Child[]} nodes */
export function openDrawer(title, ...nodes) {
  const drawer = document.getElementById('drawer');
  if (!drawer) return;
  if (drawer.hidden) drawerOpener = document.activeElement;
  clear(drawer).append(
    el(
      'div',
      {class: 'drawer-head'},
      el('h2', {id: 'drawer-title', tabindex: '-1'}, title),
      button('✕', closeDrawer, {class: 'button quiet', 'aria-label': 'Close details', title: 'Close (Esc)'}),
    ),
    el('div', {class: 'drawer-body'}, ...nodes),
  );
  drawer.hidden = false;
  // Who came by keyboard reads on there; Escape goes back. A pointer, or a step along a lane, keeps the focus.
  if (document.activeElement?.matches('tr:focus-visible, button:focus-visible'))
    document.getElementById('drawer-title')?.focus();
  document.body.classList.add('with-drawer');
  drawer.scrollTop = 0;
}

/** Whether it was open. */
export function closeDrawer() {
  const drawer = document.getElementById('drawer');
  if (!drawer || drawer.hidden) return false;
  const hadFocus = drawer.contains(document.activeElement);
  drawer.hidden = true;
  clear(drawer);
  document.body.classList.remove('with-drawer');
  if (!hadFocus || !(drawerOpener instanceof HTMLElement)) return true;
  // Rows of a table are drawn anew; the same one takes the focus.
  const same = drawerOpener.isConnected
    ? drawerOpener
    : document.querySelector(`main [data-row="${drawerOpener.dataset.row}"]`);
  if (same instanceof HTMLElement) same.focus();
  return true;
}

// Names and values below each other.
/** @param {[string, import('./dom.js').Child][]} pairs those without a value are left out */
export function detailList(pairs) {
  return el(
    'dl',
    {class: 'details'},
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => [el('dt', {}, visible(name)), el('dd', {dir: 'ltr'}, value)]),
  );
}
