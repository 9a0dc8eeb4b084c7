// The series page: puts the moving chart in place of the still when everything it needs is there.
import { el } from './lib/dom.js';
import { Broken, load, root } from './lib/load.js';
import { direction } from './lib/format.js';
import { read } from './lib/query.js';
import { Timeline } from './lib/timeline.js';
import { Address } from './chart/address.js';
import { card, tip } from './chart/card.js';
import { Chart, loadLine } from './chart/chart.js';
import { commits } from './chart/commits.js';
import { help, listen } from './chart/keys.js';
import { lines } from './chart/lines.js';
import { multiples } from './chart/multiples.js';
import { follow } from './chart/pointer.js';
import { strip } from './chart/strip.js';
import { toolbar } from './chart/toolbar.js';

const figure = document.getElementById('chart');
const { page, column: first } = figure.dataset;
const still = figure.querySelector('img');
const caption = figure.querySelector('figcaption');
const note = el('p', { class: 'note', role: 'status' });
figure.append(note);

/** The column that the address asks for, and its metric when that is not the page's first. */
function wanted() {
  const { metric } = read(location.search);
  const own = first.slice(page.length + 1);
  return metric && metric !== own && /^[\w.-]+$/.test(metric) ? { name: `${page}.${metric}`, metric } : { name: first, metric: null };
}

const say = (text, ...more) => note.replaceChildren(text, ...more);

function retry(error) {
  const text = error instanceof Broken ? error.message : `The moving chart failed: ${error.message}.`;
  if (!(error instanceof Broken)) console.error(error);
  say(`${text} `, el('button', { type: 'button', click: () => { say(''); start().catch(retry); } }, 'Try again'));
}

async function start() {
  const { name, metric } = wanted();
  if (metric) showMetric(name);
  const manifest = load('manifest', 'wirebench.site/v1');
  manifest.catch(() => {});
  const line = await loadLine(name, page);
  if (!window.uPlot) throw new Broken('assets/vendor/uplot/uPlot.iife.min.js is missing.');
  const { column } = line;
  if (!column.places) return;
  if (metric) caption.textContent = [`${column.label}, ${column.unit}`, direction(column.better) && ` (${direction(column.better)})`].filter(Boolean).join('');

  const timeline = new Timeline(column.timeline, column.places);
  const address = new Address(metric);
  const { range, pin, notice } = await address.places(timeline, column.places).catch((error) => ({ range: null, pin: null, notice: error.message }));
  if (range && range[1] - range[0] < 600 && !column.points) await new Chart(line, timeline, {}, () => {}).points(line);
  const chart = new Chart(line, timeline, { ...address.asked, lines: null, range, byDate: false }, (how) => {
    if (how === 'push' || how === 'replace') address.keep(chart, how);
  });
  if (address.asked.byDate) chart.dates = await timeline.dates().catch(() => null);
  chart.view.byDate = Boolean(chart.dates);
  chart.view.all = false;
  chart.say = say;
  chart.trouble = retry;
  chart.metric = metric;

  const host = el('div', { class: 'plot', id: 'plot', tabindex: '0', role: 'application', 'aria-roledescription': 'chart', 'aria-label': `${still.alt || caption.textContent} Arrow keys move by push, question mark lists the keys.` });
  const stage = el('div', { class: 'stage' }, host);
  figure.querySelector('.stage')?.remove();
  figure.insertBefore(stage, note);
  still.hidden = true;
  chart.mount(host);
  performance.mark('chart-drawn');
  figure.dataset.ready = 'true';
  if (notice) say(notice);
  else if (column.few) say('Up to four values: verdicts start at five runs.');

  const metrics = { href: (other) => address.query(chart, other && `${page}.${other}` !== first ? other : null) || location.pathname };
  const bar = toolbar(chart, metrics);
  const list = lines(chart);
  const dialog = help();
  const { voice } = tip(chart);
  stage.prepend(bar.host, list.legend);
  stage.append(strip(chart), voice, card(chart), list.host,
    el('p', { class: 'quiet keys' }, 'Drag to zoom, click to hold a value. ', el('button', { type: 'button', click: () => dialog.showModal() }, 'Keys (?)')), dialog);
  follow(chart);
  listen(chart, { dialog, find: list.find });
  commits(chart, document.getElementById('commits'));
  multiples(chart, document.getElementById('metrics'), metrics.href);
  addEventListener('popstate', () => back(chart, address, list));

  chart.settle();
  if (pin !== null) chart.points(line).catch(() => {}).then(() => chart.hold(chart.spotAt(line, pin), 'data'));
  try { await offer(chart, await manifest, { bar, list, address, name }); } catch (error) { retry(error); }
}

/** Shows what the manifest knows: releases, links, other lines and metrics. */
async function offer(chart, manifest, { bar, list, address, name }) {
  chart.repository = manifest.repository;
  chart.setReleases(manifest.timelines.find((timeline) => timeline.id === chart.timeline.id)?.releases ?? []);
  const own = manifest.columns.filter((head) => head.page === page).map((head) => ({ ...head, metric: head.column.slice(page.length + 1) }));
  bar.offer(own, name.slice(page.length + 1));
  const others = manifest.columns.filter((head) => head.column !== name && head.label === chart.main.label && head.timeline === chart.timeline.id);
  await list.offer(others, address.asked);
  chart.draw('data');
}

/** A metric other than the page's first: its still, its fact, its steps. */
function showMetric(name) {
  const link = document.querySelector(`#metrics a[data-column="${CSS.escape(name)}"] img`);
  still.src = `${root}charts/${encodeURIComponent(name)}.svg`;
  still.alt = link?.alt ?? '';
  for (const row of document.querySelectorAll('#changes [data-column]')) row.hidden = row.dataset.column !== name;
}

/** Back and forward. */
async function back(chart, address, list) {
  const asked = address.asked = read(location.search);
  if (asked.metric !== chart.metric) { location.reload(); return; }
  const { range, pin, notice } = await address.places(chart.timeline, chart.places);
  say(notice);
  if (asked.byDate) chart.dates ??= await chart.timeline.dates();
  const { raw, zero, log } = asked;
  chart.set({ raw, zero, log, byDate: asked.byDate && Boolean(chart.dates), range: range ?? chart.whole }, 'back');
  await list.show(asked);
  if (pin !== null) await chart.points(chart.lines[0]);
  chart.hold(pin === null ? null : chart.spotAt(chart.lines[0], pin), 'back');
}

start().catch(retry);
