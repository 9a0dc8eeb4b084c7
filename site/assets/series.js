// The series page: puts the moving chart in place of the sparkline when everything it needs is there.
import { during } from './lib/busy.js';
import { el } from './lib/dom.js';
import { Broken, load, loadLine, loadPoints, Timeline } from './lib/data.js';
import { strip } from './chart/strip.js';
import { keep, places, query, read } from './chart/address.js';
import { card, commits, tip } from './chart/card.js';
import { Chart } from './chart/chart.js';
import { lines, linesAsked, toolbar } from './chart/controls.js';
import { follow, listen } from './chart/hands.js';

const figure = document.getElementById('chart');
const { page, column: first } = figure.dataset;
const caption = figure.querySelector('figcaption');
const note = el('p', { class: 'note', role: 'status' });
figure.append(note);
// The other metrics of this page: the word that an address has for each, and its link.
const metrics = new Map([...document.querySelectorAll('#metrics a[data-column]')].map((link) => [new URLSearchParams(link.search).get('metric'), link]));
const pause = () => new Promise((done) => setTimeout(done));
const say = (...content) => note.replaceChildren(...content);
const hint = (text) => { say(text); setTimeout(() => note.textContent === text && say(), 5000); };

function trouble(error) {
  const known = error instanceof Broken;
  if (!known) console.error(error);
  say(known ? error.message : `The moving chart failed: ${error.message}.`, ' ', el('button', { type: 'button', click: () => location.reload() }, 'Try again'));
}

const alike = (heads, own) => heads.filter((head) => own && head.column !== own.column && head.label === own.label && head.timeline === own.timeline);

// The metric that the address asks for, when it is one of the others of this page, with its fact.
function otherMetric({ metric }) {
  const link = metrics.get(metric);
  if (!link) return null;
  const fact = link.querySelector('[aria-label]')?.getAttribute('aria-label') ?? link.textContent.trim();
  return { metric, name: link.dataset.column, fact };
}

// The page's fact is about the metric that is drawn, with the colour of how that one stands.
function headline(fact, link) {
  const shown = document.getElementById('fact');
  shown.textContent = fact;
  shown.className = `lead ${link.querySelector('.verdict')?.className.replace('verdict', '').trim() ?? ''}`;
}

async function start() {
  const asked = read(location.search);
  const { metric, name, fact } = otherMetric(asked) ?? { metric: null, name: first, fact: document.getElementById('fact').textContent };
  const manifest = load('manifest', 'wirebench.site/v1');
  // Other lines that the address asks for are on their way before the first is drawn. What fails is told of below.
  manifest.then(({ columns }) => {
    const own = columns.find((head) => head.column === name);
    for (const head of linesAsked(alike(columns, own), asked)) loadLine(head.column).catch(() => {});
  }).catch(() => {});
  const line = await loadLine(name, page);
  const { label, unit, better, timeline: id, places: count } = line.column;
  if (!window.uPlot) throw new Broken('assets/vendor/uplot/uPlot.iife.min.js is missing.');
  if (!count) return;

  if (metric) headline(fact, metrics.get(metric));
  if (metric) caption.textContent = `${label}, ${unit}${better ? ` (${better} is better)` : ''}`;
  const timeline = new Timeline(id, count);
  const found = await places(asked, timeline).catch(({ message }) => ({ range: null, held: null, notice: message }));
  if (found.held !== null || (found.range && found.range[1] - found.range[0] < 600)) await loadPoints(line).catch(() => {});
  const { raw, zero } = asked;
  const chart = new Chart(line, timeline, { range: found.range, raw, zero, all: false });
  Object.assign(chart, { say: hint, trouble });

  const host = el('div', { class: 'plot', tabindex: 0, role: 'application', 'aria-roledescription': 'chart', 'aria-label': `${fact} Arrow keys move by push; question mark lists the keys.` });
  const stage = el('div', { class: 'stage' }, host);
  note.before(stage);
  figure.querySelector('.spark')?.remove();
  chart.mount(host);
  await pause(); // uPlot draws at the end of a task; what follows is one of its own, so that none is long.
  performance.mark('chart-drawn');
  figure.dataset.ready = 'true';
  // A file's name has dashes where a metric's has underscores.
  const unknown = asked.metric && !metric && `${page}.${asked.metric.replaceAll('_', '-')}` !== first ? `This series has no metric called “${asked.metric}”. ` : '';
  say(unknown + found.notice);

  const href = (other) => query(chart, other || null);
  const list = lines(chart);
  const dialog = document.getElementById('chart-help');
  const bar = toolbar(chart);
  const voice = tip(chart);
  stage.prepend(bar, list.legend);
  stage.append(strip(chart), card(chart), list.host, voice,
    el('p', { class: 'quiet keys' }, 'Drag to zoom, click to keep a value. ', el('button', { type: 'button', click: () => dialog.showModal() }, 'Keys (?)')));
  await pause();
  follow(chart);
  listen(chart, dialog, list.find);
  commits(chart, document.getElementById('commits'));
  picker(chart, metric, href);
  chart.listeners.push((what) => { if (what === 'push' || what === 'replace') during(keep(chart, metric, what)); });
  addEventListener('popstate', () => during(back(chart, asked.metric, list)).catch(trouble));

  during(chart.settle());
  if (found.held !== null) chart.hold(chart.spotAt(line, found.held), 'data');
  try {
    const { repository, timelines, columns } = await manifest;
    const own = timelines.find((one) => one.id === id);
    chart.repository = own?.repository ?? repository;
    chart.releases = own?.releases ?? [];
    chart.found = null;
    list.offer(alike(columns, { column: name, label, timeline: id }));
    await list.ask(asked);
  } catch (error) { trouble(error); }
}

// The links to the metrics of this series keep what is in view.
function picker(chart, metric, href) {
  const links = [...document.querySelectorAll('#picker a, #metrics a')];
  for (const link of links) {
    if (link.dataset.metric === (metric ?? '')) link.setAttribute('aria-current', 'true'); else link.removeAttribute('aria-current');
  }
  chart.listeners.push((what) => {
    if (what !== 'hover' && what !== 'keys') for (const link of links) link.search = href(link.dataset.metric);
  });
}

async function back(chart, metric, list) {
  const asked = read(location.search);
  if (asked.metric !== metric) { location.reload(); return; }
  const { range, held, notice } = await places(asked, chart.timeline);
  say(notice);
  const { raw, zero } = asked;
  chart.set({ raw, zero, range: range ?? chart.whole }, 'data');
  await list.ask(asked);
  if (held !== null) await loadPoints(chart.lines[0]);
  chart.hold(held === null ? null : chart.spotAt(chart.lines[0], held), 'data');
}

during(start()).catch(trouble);
