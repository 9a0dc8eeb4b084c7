// The legend, and the list from which lines of other series with the same metric are added.
import { el } from '../lib/dom.js';
import { look } from '../lib/look.js';
import { loadLine, MOST_LINES } from './chart.js';

const NS = 'http://www.w3.org/2000/svg';

/** A short piece of a line as it is drawn. */
function sample({ colour, dash, marker }) {
  const svg = document.createElementNS(NS, 'svg');
  const part = (tag, props) => { const node = document.createElementNS(NS, tag); for (const name in props) node.setAttribute(name, props[name]); svg.append(node); };
  for (const [name, value] of Object.entries({ width: 28, height: 14, 'aria-hidden': 'true', class: `colour-${colour}` })) svg.setAttribute(name, value);
  part('path', { d: 'M0 7H28', 'stroke-dasharray': dash.join(' '), stroke: 'currentColor', 'stroke-width': 2 });
  part('path', { fill: 'currentColor', d: { disc: 'M10 7a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', square: 'M10.5 3.5h7v7h-7z', diamond: 'M14 2l5 5-5 5-5-5z', up: 'M14 2l5 9H9z', down: 'M14 12l5-9H9z' }[marker] });
  return svg;
}

export function lines(chart) {
  const legend = el('ul', { class: 'legend', 'aria-label': 'Lines', hidden: true });
  const find = el('input', { type: 'search', placeholder: 'Find a server or series', 'aria-label': 'Find a line to add', input: () => list() });
  const choices = el('ul', { class: 'choices' });
  const all = el('button', { type: 'button', 'aria-pressed': 'false', click: () => (chart.view.all ? show([], 'push') : everything('push')) });
  const host = el('details', { class: 'lines', hidden: true }, el('summary', null, 'More lines'), el('div', { class: 'controls' }, find, all), choices);
  let heads = [];

  const list = () => {
    const wanted = find.value.trim().toLowerCase();
    const shown = new Set(chart.lines.map((line) => line.name));
    const matching = heads.filter((head) => head.series.toLowerCase().includes(wanted));
    choices.replaceChildren(...matching.slice(0, 60).map((head) => {
      const box = el('input', { type: 'checkbox', checked: shown.has(head.column), change: () => toggle(head, box.checked) });
      return el('li', null, el('label', null, box, sample(look(head.server)), ` ${head.series}`));
    }));
    if (!matching.length) choices.append(el('li', { class: 'quiet' }, `No series is called “${find.value}”.`));
    if (matching.length > 60) choices.append(el('li', { class: 'quiet' }, `… ${matching.length - 60} more: type more of the name`));
  };
  const toggle = (head, on) => show(on ? [...chart.lines.slice(1), head] : chart.lines.slice(1).filter((line) => line.name !== head.column), 'push');

  /** Draws these lines beside the page's own; heads among them are loaded first. */
  async function show(wanted, how, whole = false) {
    const others = wanted.slice(0, MOST_LINES - 1);
    const settled = await Promise.allSettled(others.map((one) => (one.look ? one : loadLine(one.column, one.page))));
    const found = settled.filter((one) => one.status === 'fulfilled').map((one) => one.value);
    const fit = found.filter((line) => line.column.unit === chart.main.unit && line.column.ratio === chart.main.ratio && line.column.places === chart.places);
    const wrong = settled.find((one) => one.status === 'rejected');
    if (wrong) chart.trouble?.(wrong.reason);
    else if (fit.length < found.length) chart.say('Left out: series in another unit, or judged another way.');
    chart.view.all = whole;
    chart.setLines(fit);
    chart.draw(how);
    performance.mark('lines-drawn');
  }
  const everything = (how) => show(heads, how, true);

  chart.listeners.push((how) => {
    if (how !== 'lines') return;
    legend.hidden = chart.lines.length < 2;
    legend.replaceChildren(...chart.lines.map((line, i) => el('li', null, sample(line.look), el('span', null, line.column.series),
      i > 0 ? el('button', { type: 'button', 'aria-label': `Remove ${line.column.series}`, click: () => show(chart.lines.slice(1).filter((one) => one !== line), 'push') }, '×') : null)));
    all.setAttribute('aria-pressed', String(chart.view.all));
    list();
  });
  return {
    host, legend,
    find: () => { if (!host.hidden) { host.open = true; find.focus(); } },
    /** What can be added, once it is known; and what the address asks for. */
    offer(found, asked) {
      heads = found;
      host.hidden = !heads.length;
      all.textContent = heads.length < MOST_LINES ? `all ${heads.length + 1} of this metric` : `the first ${MOST_LINES} of this metric`;
      list();
      if (asked.all) return everything('data');
      const wanted = heads.filter((head) => asked.lines.includes(head.page));
      return wanted.length ? show(wanted, 'data') : null;
    },
    show: (asked) => {
      if (asked.all) return everything('data');
      return show(heads.filter((head) => asked.lines.includes(head.page)), 'data');
    },
  };
}
