// What stands around the chart to choose from: range, axes, lines.
import { el } from '../lib/dom.js';
import { loadLine } from '../lib/data.js';
import { look } from './draw.js';
import { clamp, same } from './view.js';

export function toolbar(chart) {
  const { main, places, view } = chart;
  const newest = (count) => clamp([places - count, places - 1], places);
  const updates = [];
  const button = (text, title, click, on) => {
    const made = el('button', { type: 'button', title, click }, text);
    updates.push(() => made.setAttribute('aria-pressed', String(on())));
    return made;
  };
  const chip = (text, title, range, on) => button(text, title, () => chart.set({ range: range() }, 'push'), on);
  const toggle = (text, title, key, on = () => view[key]) => button(text, title, () => chart.set({ [key]: !view[key] }, 'push'), on);
  const group = (name, ...buttons) => el('span', { class: 'group', role: 'group', 'aria-label': name }, el('span', { 'aria-hidden': 'true' }, name), el('span', { class: 'chips' }, ...buttons));
  const host = el('div', { class: 'controls' },
    group('Commits',
      ...[30, 100, 300].map((count) => chip(String(count), `The newest ${count} pushes`, () => newest(count), () => places > count && same(view.range, newest(count)))),
      chip('all', 'Every push (key 0)', () => chart.whole, () => chart.isWhole)),
    main.isRatio ? group('Values',
      toggle('ratio', 'Against the reference', 'raw', () => !view.raw),
      toggle('measured', 'As measured', 'raw')) : null,
    group('Axis',
      toggle('from zero', 'Zero is on the axis', 'zero')));
  const update = () => updates.forEach((one) => one());
  chart.listeners.push((what) => { if (what !== 'hover' && what !== 'keys') update(); });
  update();
  return host;
}

const MOST_LINES = 60;
const sample = (server, nth) => {
  const { colour, sign } = look(server, nth);
  return el('span', { class: `sample colour-${colour}`, 'aria-hidden': 'true' }, sign);
};

export const linesAsked = (heads, { all, lines: pages }) => heads.filter(({ page }) => all || pages.includes(page)).slice(0, MOST_LINES - 1);

export function lines(chart) {
  let heads = [];
  const find = el('input', { type: 'search', placeholder: 'Find a server or series', 'aria-label': 'Find a line to add', input: () => list() });
  const all = el('button', { type: 'button', click: () => show(chart.view.all ? [] : linesAsked(heads, { all: true }), 'push', !chart.view.all) });
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
      return el('label', null, box, sample(head.server), head.series);
    });
    if (!rows.length) rows.push(`No series is called “${find.value}”.`);
    if (matching.length > MOST_LINES) rows.push(`… ${matching.length - MOST_LINES} more: type more of the name`);
    choices.replaceChildren(...rows.map((row) => el('li', null, row)));
  };

  // Draws these lines beside the page's own; those that are heads of the manifest are loaded first.
  async function show(wanted, what, whole = false) {
    const settled = await Promise.allSettled(wanted.map((one) => (one.name ? one : loadLine(one.column, one.page))));
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
    legend.replaceChildren(...chart.lines.map(({ name, column: { series, server } }, i) => el('li', null, sample(server, i), series,
      i ? el('button', { type: 'button', 'aria-label': `Remove ${series}`, click: () => show(without(name), 'push') }, '×') : null)));
    all.setAttribute('aria-pressed', String(whole));
    list();
  }

  return {
    host, legend,
    find: () => { host.open = !host.hidden; find.focus(); },
    offer(found) {
      heads = found;
      host.hidden = !heads.length;
      all.textContent = `all of this metric (${Math.min(MOST_LINES, heads.length + 1)})`;
      list();
    },
    ask: (asked) => show(linesAsked(heads, asked), 'data', asked.all),
  };
}
