// Makes elements; text goes in as text only, never as markup.

/** `el('a', { href, class: 'quiet' }, 'text', child)`. Properties that are functions become listeners. */
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value == null || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** Runs `work` once, `wait` ms after the last call. */
export function later(work, wait) {
  let timer;
  return (...args) => { clearTimeout(timer); timer = setTimeout(work, wait, ...args); };
}

/** When nothing else is to do. */
export const idle = () => new Promise((done) => (window.requestIdleCallback ?? setTimeout)(() => done(), { timeout: 1000 }));
