// route.js: what is shown is told by the address behind the '#', so that a link gives it again.

/** @type {{view: string, name: string, values: Map<string, string>}} */
let routePlace = {view: 'overview', name: '', values: new Map()};

/** @type {ReturnType<typeof setTimeout> | undefined} */
let routeTimer;

// What people type: the names on the tabs.
const kViewNames = new Map([
  ['tables', 'table'],
  ['modules', 'tree'],
  ['collectives', 'ranks'],
]);

// '#table/NAME?row=77aa01de&f=gemm'; what cannot be read is left out.
/** @param {string} hash */
export function parseHash(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const [view, name = ''] = path.split(/\/(.*)/s);
  const values = new Map();
  for (const part of query.split('&')) {
    const [key, value = ''] = part.split(/=(.*)/s);
    try {
      if (key) values.set(decodeURIComponent(key), decodeURIComponent(value));
    } catch {
      /* stale or cut: ignored */
    }
  }
  let table = name;
  try {
    table = decodeURIComponent(name);
  } catch {
    /* kept as it is */
  }
  return {view: kViewNames.get(view.toLowerCase()) ?? (view || 'overview'), name: table, values};
}

/** @param {string} view @param {string} name @param {Iterable<[string, any]>} values */
export function hashOf(view, name = '', values = []) {
  const parts = [];
  for (const [key, value] of values)
    if (value !== null && value !== undefined && value !== '')
      parts.push(`${encodeURIComponent(key)}=${encodeURIComponent(value).replace(/%3A/g, ':').replace(/%2C/g, ',')}`);
  return `#${view}${name ? '/' + encodeURIComponent(name) : ''}${parts.length ? '?' + parts.join('&') : ''}`;
}

/** The state of the view that is shown. */
export const state = {
  get view() {
    return routePlace.view;
  },
  get name() {
    return routePlace.name;
  },
  /** @param {string} key @returns {string | null} */
  get(key) {
    return routePlace.values.get(key) ?? null;
  },
  // Into the address, without a step in the history. An empty value takes the key away.
  /** @param {Record<string, any>} changes */
  set(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === '') routePlace.values.delete(key);
      else routePlace.values.set(key, String(value));
    }
    // Browsers allow few changes a second, and each takes milliseconds.
    clearTimeout(routeTimer);
    routeTimer = setTimeout(
      () => history.replaceState(history.state, '', hashOf(routePlace.view, routePlace.name, routePlace.values)),
      100,
    );
  },
};

/** @param {string} hash */
export function readRoute(hash) {
  clearTimeout(routeTimer);
  routePlace = parseHash(hash);
}

// Goes there, with a step in the history: Back returns.
/** @param {string} hash */
export function go(hash) {
  clearTimeout(routeTimer);
  if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = hash;
}

// A sentence for the status line, read aloud by screen readers.
/** @param {string} text */
export function say(text) {
  const line = document.getElementById('status');
  if (line) line.textContent = text;
}
