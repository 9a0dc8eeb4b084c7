// Makes elements; text goes in as text only, never as markup.

// `el('a', { href, class: 'quiet' }, 'text', child)`: properties that are functions become listeners; null is left out.
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value != null && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}
