// Filters the rows of tables, or cards: a text, choices, a switch; what is chosen is in the address.
import { el } from './dom.js';

// Puts controls before `place`; a box without a visible row is hidden. `choices` are `{ key, name, of(row) }`; `only` is
// `{ key, name, when(row) }`, off unless the address has `key=changed`. What is folded opens as soon as it is filtered.
export function filter(rows, boxes, place, { choices, only, empty }) {
  if (!rows.length) return;
  const folds = new Set([...boxes].map((box) => box.closest('details')).filter(Boolean));
  const reveal = () => { for (const fold of folds) fold.open = true; };
  const asked = new URLSearchParams(location.search);
  const find = el('input', { type: 'search', 'aria-label': 'Filter', placeholder: 'Filter', value: asked.get('q'), input: () => change() });
  const selects = choices.map((choice) => [choice, [...new Set(rows.map(choice.of).filter(Boolean))]]).filter(([, values]) => values.length > 1).map(([choice, values]) => ({
    ...choice,
    select: el('select', { 'aria-label': choice.name, change: () => change() }, el('option', { value: '' }, `${choice.name}: all`),
      ...values.map((value) => el('option', { value, selected: asked.get(choice.key) === value }, value))),
  }));
  const toggle = only && el('button', { type: 'button', 'aria-pressed': String(asked.get(only.key) === 'changed'), click: () => { press(!pressed()); change(); } }, only.name);
  const pressed = () => toggle?.getAttribute('aria-pressed') === 'true';
  const press = (on) => toggle?.setAttribute('aria-pressed', String(on));
  const all = el('button', { type: 'button', click: () => { find.value = ''; for (const { select } of selects) select.value = ''; press(false); change(); } }, 'Show all');
  const count = el('p', { class: 'quiet', role: 'status' });
  place.before(el('div', { class: 'controls' }, find, ...selects.map(({ select }) => select), toggle, all), count);

  function show() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(words.every((word) => text.includes(word)) && selects.every(({ select, of }) => !select.value || of(row) === select.value) && (!pressed() || only.when(row)));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    for (const box of boxes) box.hidden = rows.every((row) => row.hidden || !box.contains(row));
    all.disabled = shown === rows.length;
    count.textContent = shown ? `${shown} of ${rows.length} shown` : empty;
    const query = new URLSearchParams();
    if (find.value) query.set('q', find.value);
    for (const { key, select } of selects) if (select.value) query.set(key, select.value);
    if (pressed()) query.set(only.key, 'changed');
    history.replaceState(null, '', location.pathname + (query.size ? `?${query}` : '') + location.hash);
  }

  function change() {
    reveal();
    show();
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select, textarea')) return;
    event.preventDefault();
    reveal();
    find.focus();
  });
  if (['q', only?.key, ...choices.map(({ key }) => key)].some((key) => asked.has(key))) reveal();
  show();
}
