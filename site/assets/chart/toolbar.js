// Buttons above the chart: how much of it, on which axis, which metric.
import { el } from '../lib/dom.js';
import { newest, same } from '../lib/range.js';

const CHIPS = [30, 100, 300];

export function toolbar(chart, metrics) {
  const press = (button, on) => button.setAttribute('aria-pressed', String(on));
  const button = (text, title, click) => el('button', { type: 'button', title, click }, text);

  const chips = CHIPS.map((count) => ({
    button: button(String(count), `The newest ${count} pushes`, () => chart.set({ range: newest(count, chart.places) }, 'push')),
    on: () => chart.places > count && same(chart.view.range, newest(count, chart.places)),
  }));
  let year = null;
  chips.push({
    button: button('1 year', 'The newest year', async () => {
      try { year = await chart.timeline.since(365); } catch (error) { chart.trouble?.(error); return; }
      chart.set({ range: [year, chart.places - 1] }, 'push');
    }),
    on: () => year > 0 && same(chart.view.range, [year, chart.places - 1]),
  });
  chips.push({ button: button('all', 'Every push', () => chart.set({ range: chart.whole }, 'push')), on: () => chart.isWhole });
  const reset = button('Reset', 'Everything, as at first (0)', () => chart.set({ range: chart.whole }, 'push'));

  const toggle = (text, title, read, patch) => ({ button: button(text, title, () => chart.set(patch(), 'push')), on: read });
  const { reference } = chart.main;
  const toggles = [
    ...(chart.main.ratio ? [toggle(`% against ${reference ?? 'the reference'}`, 'Ratios, or the values as measured', () => !chart.view.raw, () => ({ raw: !chart.view.raw }))] : []),
    toggle('from zero', 'Start the axis at zero', () => chart.view.zero, () => ({ zero: !chart.view.zero, log: false })),
    toggle('log', 'Logarithmic axis', () => chart.view.log && !chart.percent, () => ({ log: !chart.view.log, zero: false })),
  ];
  const byDate = button('by date', 'Space pushes by date instead of evenly', async () => {
    if (!chart.view.byDate) {
      try { chart.dates ??= await chart.timeline.dates(); } catch (error) { chart.trouble?.(error); return; }
      if (!chart.dates) { chart.say('No push of this history has a date.'); return; }
    }
    chart.set({ byDate: !chart.view.byDate }, 'push');
  });
  toggles.push({ button: byDate, on: () => chart.view.byDate });

  const choose = el('select', { 'aria-label': 'Metric', hidden: true, change: () => location.assign(metrics.href(choose.value)) });
  const host = el('div', { class: 'controls', role: 'group', 'aria-label': 'Range and axes' },
    el('span', { class: 'chips' }, ...chips.map((chip) => chip.button)), reset,
    el('span', { class: 'chips' }, ...toggles.map((one) => one.button)), choose);

  const show = () => {
    for (const one of [...chips, ...toggles]) press(one.button, one.on());
    reset.disabled = chart.isWhole;
    const log = toggles.find((one) => one.button.textContent === 'log').button;
    log.disabled = chart.percent;
  };
  chart.listeners.push((how) => { if (how !== 'hover' && how !== 'keys') show(); });
  show();
  return {
    host,
    /** Offers the metrics of this series once they are known. */
    offer(heads, now) {
      choose.replaceChildren(...heads.map((head) => el('option', { value: head.metric, selected: head.metric === now }, head.label)));
      choose.hidden = heads.length < 2;
    },
  };
}
