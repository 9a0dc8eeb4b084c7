// The keyboard on the chart, and the help that `?` opens.
import { el } from '../lib/dom.js';
import { reach, same, zoom } from '../lib/range.js';
import { comparison } from './card.js';

const HELP = {
  '← →': 'the push before, the next one; with Shift ten', 'Home End': 'the first, the last in view', '↑ ↓': 'another line',
  '+ −': 'zoom in, zoom out', 0: 'show everything', 'n p': 'the next, the previous mark: change, break, release, failed run',
  Enter: 'hold the value in a card; Esc lets go', c: 'compare with the one before, or with the held one', '/': 'find a line to add', '?': 'this help',
};

/** The dialog of help. */
export const help = () => el('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
  el('h2', { id: 'help-title' }, 'The chart: keys and marks'),
  el('table', null, el('tbody', null, ...Object.entries(HELP).map(([keys, what]) => el('tr', null, el('th', { scope: 'row' }, ...keys.split(' ').map((key) => el('kbd', null, key))), el('td', null, what))))),
  el('p', null, 'Drag across to zoom, Ctrl and the wheel zoom around the pointer, a click holds a value. A dot is a value, its whiskers the 95 % interval; a hollow one is provisional. With more than 400 in view, areas reach from the smallest to the largest of a stretch, and the line runs through the middles. Broad bars are levels.'),
  el('form', { method: 'dialog' }, el('button', null, 'Close')));

/** Listens to keys. `find` leads to the list of lines. */
export function listen(chart, dialog, find) {
  const lines = () => chart.plot.scene.lines;
  const go = (to, line = chart.cursor?.line ?? lines()[0]) => {
    if (!line) return;
    const place = Math.max(0, Math.min(chart.places - 1, to));
    const range = reach(chart.view.range, place, chart.places);
    if (!same(range, chart.view.range)) chart.set({ range });
    chart.point(chart.spotAt(line, place), 'keys');
  };
  const step = (by) => {
    const { cursor, view: { range } } = chart;
    if (!cursor) go(range[by > 0 ? 0 : 1]);
    // Among stretches a step is a stretch: there is nothing finer to point at.
    else if (cursor.stretch && Math.abs(by) === 1) go(by > 0 ? cursor.stretch.end + 1 : cursor.stretch.from - 1);
    else go(cursor.place + by);
  };
  const line = (by) => {
    const now = lines().findIndex(({ name }) => name === chart.cursor?.line.name);
    go(chart.cursor?.place ?? chart.view.range[1], lines().at((now + by) % lines().length));
  };
  const mark = (by) => {
    const here = chart.cursor?.place ?? (by > 0 ? chart.view.range[0] - 1 : chart.view.range[1] + 1);
    const found = by > 0 ? chart.marks.find(({ at }) => at > here) : chart.marks.findLast(({ at }) => at < here);
    if (found) go(found.at, lines()[0]); else chart.say('There is no further mark.');
  };
  const compare = async () => {
    const { cursor, held, timeline } = chart;
    if (!cursor) return;
    const pair = [held && held.place !== cursor.place ? held.place : cursor.place - 1, cursor.place].sort((one, other) => one - other);
    await chart.gather(pair.map((place) => timeline.need(place)));
    const href = comparison(chart, ...pair);
    if (href) location.assign(href); else chart.say('No page compares these two.');
  };
  const scale = (factor) => chart.set({ range: zoom(chart.view.range, factor, chart.cursor?.place ?? (chart.view.range[0] + chart.view.range[1]) / 2, chart.places) });
  const keys = {
    ArrowLeft: (ten) => step(ten ? -10 : -1), ArrowRight: (ten) => step(ten ? 10 : 1), ArrowUp: () => line(-1), ArrowDown: () => line(1),
    Home: () => go(chart.view.range[0]), End: () => go(chart.view.range[1]),
    '+': () => scale(0.5), '=': () => scale(0.5), '-': () => scale(2), 0: () => chart.set({ range: chart.whole }, 'push'),
    n: () => mark(1), p: () => mark(-1), c: compare,
    Enter: () => chart.cursor && chart.hold(chart.cursor),
    Escape: () => (chart.held ? chart.hold(null) : chart.point(null, 'keys')),
  };
  const plain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;
  chart.host.addEventListener('keydown', (event) => {
    if (!plain(event) || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key](event.shiftKey);
  });
  chart.host.addEventListener('blur', () => chart.point(null, 'keys'));
  document.addEventListener('keydown', (event) => {
    if (!plain(event) || event.target.matches('input, select, textarea, dialog *')) return;
    const act = { '?': () => dialog.showModal(), '/': find }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
