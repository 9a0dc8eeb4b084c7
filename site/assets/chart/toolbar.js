// Buttons above the chart: how much of it, and on which axes.
import { el } from '../lib/dom.js';
import { clamp, same } from '../lib/range.js';

export function toolbar(chart) {
  const { main, places, timeline, view } = chart;
  const newest = (count) => clamp([places - count, places - 1], places);
  const updates = [];
  const button = (text, title, click, on, off) => {
    const made = el('button', { type: 'button', title, click: async () => { try { await click(); } catch (error) { chart.trouble(error); } } }, text);
    updates.push(() => {
      if (on) made.setAttribute('aria-pressed', String(on()));
      made.disabled = Boolean(off?.());
    });
    return made;
  };
  const chip = (text, title, range, on) => button(text, title, async () => chart.set({ range: await range() }, 'push'), on);
  const toggle = (text, title, key, patch = {}, off = null, on = () => view[key]) => button(text, title, () => chart.set({ ...patch, [key]: !view[key] }, 'push'), on, off);
  let year = null;
  const host = el('div', { class: 'controls', role: 'group', 'aria-label': 'Range and axes' },
    el('span', { class: 'chips' },
      ...[30, 100, 300].map((count) => chip(String(count), `The newest ${count} pushes`, () => newest(count), () => places > count && same(view.range, newest(count)))),
      chip('1 year', 'The newest year', async () => [year = await timeline.since(365), places - 1], () => year > 0 && same(view.range, [year, places - 1])),
      chip('all', 'Every push', () => chart.whole, () => chart.isWhole)),
    button('Reset', 'Every push, as at first (key 0)', () => chart.set({ range: chart.whole }, 'push'), null, () => chart.isWhole),
    el('span', { class: 'chips' },
      main.isRatio ? toggle(`% against ${main.reference ?? 'the reference'}`, 'Ratios, or else the values as measured', 'raw', {}, null, () => !view.raw) : null,
      toggle('from zero', 'Zero is on the axis', 'zero', { log: false }),
      toggle('log', 'Logarithmic axis, for values', 'log', { zero: false }, () => chart.percent),
      button('by date', 'Pushes stand at their dates instead of evenly', async () => {
        chart.dates ??= await timeline.dates();
        if (chart.dates) chart.set({ byDate: !view.byDate }, 'push'); else chart.say('No push of this history has a date.');
      }, () => view.byDate)));
  const update = () => updates.forEach((one) => one());
  chart.listeners.push((what) => { if (what !== 'hover' && what !== 'keys') update(); });
  update();
  return host;
}
