// The legend, and the list from which lines of other series with the same metric are added.
import { el } from '../lib/dom.js';
import { loadLine } from '../lib/column.js';
import { look } from '../lib/look.js';

/** Most lines at once. */
const MOST_LINES = 60;
const sample = ({ colour, sign }) => el('span', { class: `sample colour-${colour}`, 'aria-hidden': 'true' }, sign);

export function lines(chart) {
  let heads = [];
  const find = el('input', { type: 'search', placeholder: 'Find a server or series', 'aria-label': 'Find a line to add', input: () => list() });
  const all = el('button', { type: 'button', click: () => show(chart.view.all ? [] : heads, 'push', !chart.view.all) });
  const choices = el('ul', { class: 'choices' });
  const legend = el('ul', { class: 'legend', 'aria-label': 'Lines', hidden: true });
  const host = el('details', { class: 'lines', hidden: true }, el('summary', null, 'More lines'), el('div', { class: 'controls' }, find, all), choices);
  const others = () => chart.lines.slice(1);
  const without = (name) => others().filter((line) => line.name !== name);

  const list = () => {
    const wanted = find.value.trim().toLowerCase();
    const matching = heads.filter(({ series }) => series.toLowerCase().includes(wanted));
    const rows = matching.slice(0, MOST_LINES).map((head) => {
      const shown = others().some(({ name }) => name === head.column);
      const box = el('input', { type: 'checkbox', checked: shown, change: () => show(box.checked ? [...others(), head] : without(head.column), 'push') });
      return el('label', null, box, sample(look(head.server)), head.series);
    });
    if (!rows.length) rows.push(`No series is called “${find.value}”.`);
    if (matching.length > MOST_LINES) rows.push(`… ${matching.length - MOST_LINES} more: type more of the name`);
    choices.replaceChildren(...rows.map((row) => el('li', null, row)));
  };

  /** Draws these lines beside the page's own; those that are heads of the manifest are loaded first. */
  async function show(wanted, what, whole = false) {
    const settled = await Promise.allSettled(wanted.slice(0, MOST_LINES - 1).map((one) => (one.look ? one : loadLine(one.column, one.page))));
    const found = settled.flatMap(({ value }) => value ?? []);
    const { main } = chart;
    const fitting = found.filter(({ column }) => column.unit === main.unit && column.isRatio === main.isRatio && column.places === main.places);
    const failed = settled.find(({ reason }) => reason);
    if (failed) chart.trouble(failed.reason);
    else if (fitting.length < found.length) chart.say('Series in another unit, or judged another way, are left out.');
    chart.view.all = whole;
    chart.setLines(fitting, what);
    performance.mark('lines-drawn');
    legend.hidden = !others().length;
    legend.replaceChildren(...chart.lines.map(({ name, look: how, column: { series } }, i) => el('li', null, sample(how), series,
      i ? el('button', { type: 'button', 'aria-label': `Remove ${series}`, click: () => show(without(name), 'push') }, '×') : null)));
    all.setAttribute('aria-pressed', String(whole));
    list();
  }

  return {
    host, legend,
    find: () => { host.open = !host.hidden; find.focus(); },
    /** Takes the heads that can be added. */
    offer(found) {
      heads = found;
      host.hidden = !heads.length;
      all.textContent = `all of this metric (${Math.min(MOST_LINES, heads.length + 1)})`;
      list();
    },
    /** Draws what the address asks for. */
    ask: (asked) => show(asked.all ? heads : heads.filter(({ page }) => asked.lines.includes(page)), 'data', asked.all),
  };
}
