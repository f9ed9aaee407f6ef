// dom.js: elements. Text only ever becomes text: nothing here reads markup.
import {visible, shortName} from './text.js';

/** @typedef {any} Child a node, text, number, list of these, or nothing */

/** @param {Element} node @param {Record<string, any>} attributes @param {Child[]} children */
function filledElement(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else if (name === 'style') {
      // The policy forbids the attribute.
      const {style} = /** @type {HTMLElement} */ (node);
      for (const [key, text] of Object.entries(value))
        if (key.startsWith('--')) style.setProperty(key, text);
        else Object.assign(style, {[key]: text});
    } else if (name === 'value' || name === 'checked') /** @type {any} */ (node)[name] = value;
    else if (name === 'href' && !/^(#|blob:)/.test(value)) throw new Error('a link leaves the page');
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  addChildren(node, children);
  return node;
}

/** @param {Element} node @param {Child[]} children */
function addChildren(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) addChildren(node, child);
    else if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : String(child));
  }
}

/**
 * el('a', {class: 'tab', href: '#ops', onclick: go}, 'Ops')
 * @param {string} tag @param {Record<string, any>} attributes @param {Child[]} children @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  return filledElement(document.createElement(tag), attributes, children);
}

/** @param {string} tag @param {Record<string, any>} attributes @param {Child[]} children @returns {any} */
export function svgEl(tag, attributes = {}, ...children) {
  return filledElement(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** @template {Element} T @param {T} node @returns {T} */
export function clear(node) {
  node.replaceChildren();
  return node;
}

// Text of the trace: what cannot be seen is written out and muted; always left to right.
/** @param {string} text @param {number} width 0: all of it */
export function traceText(text, width = 0) {
  const short = width ? shortName(text, width) : String(text);
  const parts = visible(short).split(/(\\u\{[0-9A-F]+\})/);
  return el(
    'span',
    {class: 'trace-text', dir: 'ltr', title: short === text ? null : visible(shortName(text, 600))},
    parts.length === 1 ? parts[0] : parts.map((part, i) => (i % 2 ? el('span', {class: 'muted'}, part) : part)),
  );
}

// A button.
/** @param {Child} label @param {(event: Event) => void} onclick @param {Record<string, any>} more */
export function button(label, onclick, more = {}) {
  return el('button', {type: 'button', class: 'button', onclick, ...more}, label);
}
