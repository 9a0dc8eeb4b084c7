// Filters the rows of tables: a text, choices, a switch; what is chosen is in the address.
import { el } from './dom.js';

// Puts controls before `place`. `choices` are `{ key, name, of(row) }`; `only` is `{ key, name, when(row) }`, on unless the address has `key=all`.
export function filter(tables, place, { choices, only, empty }) {
  const rows = [...tables].flatMap((table) => [...table.tBodies[0]?.rows ?? []]);
  if (!rows.length) return;
  const asked = new URLSearchParams(location.search);
  const find = el('input', { type: 'search', 'aria-label': 'Filter', placeholder: 'Filter', value: asked.get('q'), input: () => show() });
  const selects = choices.map((choice) => [choice, [...new Set(rows.map(choice.of).filter(Boolean))]]).filter(([, values]) => values.length > 1).map(([choice, values]) => ({
    ...choice,
    select: el('select', { 'aria-label': choice.name, change: () => show() }, el('option', { value: '' }, `${choice.name}: all`),
      ...values.map((value) => el('option', { value, selected: asked.get(choice.key) === value }, value))),
  }));
  // When nothing would be left the switch starts off: the page's own sentence says so already.
  const useful = only && rows.some(only.when);
  const toggle = only && el('button', { type: 'button', 'aria-pressed': String(useful && asked.get(only.key) !== 'all'), click: () => { press(!pressed()); show(); } }, only.name);
  const pressed = () => toggle?.getAttribute('aria-pressed') === 'true';
  const press = (on) => toggle?.setAttribute('aria-pressed', String(on));
  const all = el('button', { type: 'button', click: () => { find.value = ''; for (const { select } of selects) select.value = ''; press(false); show(); } }, 'Show all');
  const count = el('p', { class: 'quiet', role: 'status' });
  place.before(el('div', { class: 'controls' }, find, ...selects.map(({ select }) => select), toggle, all), count);

  function show() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(words.every((word) => text.includes(word)) && selects.every(({ select, of }) => !select.value || of(row) === select.value) && (!pressed() || only.when(row)));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    for (const table of tables) (table.closest('.scroll') ?? table).hidden = rows.every((row) => row.hidden || !table.contains(row));
    all.disabled = shown === rows.length;
    count.textContent = shown ? `${shown} of ${rows.length} shown` : empty;
    const query = new URLSearchParams();
    if (find.value) query.set('q', find.value);
    for (const { key, select } of selects) if (select.value) query.set(key, select.value);
    if (useful && !pressed()) query.set(only.key, 'all');
    history.replaceState(null, '', location.pathname + (query.size ? `?${query}` : '') + location.hash);
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select, textarea')) return;
    event.preventDefault();
    find.focus();
  });
  show();
}
