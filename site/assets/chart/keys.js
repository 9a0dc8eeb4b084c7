// The keyboard on the chart, and the page of help that `?` opens.
import { el } from '../lib/dom.js';
import { reach, zoom } from '../lib/range.js';
import { comparison } from './card.js';

const HELP = [
  ['← →', 'the push before, the next one; with Shift ten'],
  ['Home End', 'the first, the last one shown'],
  ['↑ ↓', 'another line'],
  ['+ −', 'zoom in, zoom out'],
  ['0', 'show everything'],
  ['n p', 'the next, the previous mark: change, break, release, failed run'],
  ['Enter', 'hold the value in a card; Esc lets go'],
  ['c', 'compare with the one before, or with the held one'],
  ['/', 'find a line to add'],
  ['?', 'this help'],
];

export function help() {
  const dialog = el('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
    el('h2', { id: 'help-title' }, 'Keys of the chart'),
    el('table', null, el('tbody', null, ...HELP.map(([keys, what]) => el('tr', null, el('th', { scope: 'row' }, ...keys.split(' ').flatMap((key) => [el('kbd', null, key), ' '])), el('td', null, what))))),
    el('p', null, 'With a mouse: drag across to zoom, Ctrl and the wheel to zoom around the pointer, click to hold a value. Dots are single values with their 95 % interval; when more than 400 are in view, areas reach from the smallest to the largest of a stretch and the line runs through the middles. Broad bars are levels; hollow dots are provisional.'),
    el('form', { method: 'dialog' }, el('button', null, 'Close')));
  return dialog;
}

/** Listens to keys on the chart's host. */
export function listen(chart, { dialog, find }) {
  const go = (place, line = chart.cursor?.line ?? chart.plot.scene.lines[0]) => {
    if (!line) return;
    place = Math.max(0, Math.min(chart.places - 1, place));
    const range = reach(chart.view.range, place, chart.places);
    if (range[0] !== chart.view.range[0] || range[1] !== chart.view.range[1]) chart.set({ range });
    chart.point(chart.spotAt(line, place), 'keys');
  };
  const step = (by) => {
    const [a, b] = chart.view.range;
    if (!chart.cursor) { go(by > 0 ? a : b); return; }
    const { line, bucket, place } = chart.cursor;
    // Between buckets a step is a bucket: there is nothing finer to point at.
    go(bucket && Math.abs(by) === 1 ? (by > 0 ? bucket.end + 1 : bucket.from - 1) : place + by);
  };
  const line = (by) => {
    const lines = chart.plot.scene.lines;
    const now = lines.findIndex((one) => one.column === chart.cursor?.line.column);
    go(chart.cursor?.place ?? chart.view.range[1], lines[(now + by + lines.length) % lines.length]);
  };
  const mark = (by) => {
    const here = chart.cursor?.place ?? (by > 0 ? chart.view.range[0] - 1 : chart.view.range[1] + 1);
    const found = by > 0 ? chart.marks.find(({ at }) => at > here) : chart.marks.findLast(({ at }) => at < here);
    if (found) go(found.at, chart.plot.scene.lines[0]); else chart.say('No further mark.');
  };
  const compare = async () => {
    const { cursor, pin } = chart;
    if (!cursor) return;
    const other = pin && pin.place !== cursor.place ? pin.place : cursor.place - 1;
    if (other < 0) return;
    await chart.gather([chart.timeline.need(Math.min(other, cursor.place), Math.max(other, cursor.place))]);
    const href = comparison(chart, Math.min(other, cursor.place), Math.max(other, cursor.place));
    if (href) location.assign(href); else chart.say('There is no page that compares these two.');
  };
  const around = () => chart.cursor?.place ?? (chart.view.range[0] + chart.view.range[1]) / 2;
  const keys = {
    ArrowLeft: (shift) => step(shift ? -10 : -1), ArrowRight: (shift) => step(shift ? 10 : 1),
    ArrowUp: () => line(-1), ArrowDown: () => line(1),
    Home: () => go(chart.view.range[0]), End: () => go(chart.view.range[1]),
    '+': () => chart.set({ range: zoom(chart.view.range, 0.5, around(), chart.places) }),
    '-': () => chart.set({ range: zoom(chart.view.range, 2, around(), chart.places) }),
    0: () => chart.set({ range: chart.whole }, 'push'),
    n: () => mark(1), p: () => mark(-1),
    Enter: () => chart.cursor && chart.hold(chart.cursor),
    Escape: () => { if (chart.pin) chart.hold(null); else chart.point(null, 'keys'); },
    c: compare,
  };
  keys['='] = keys['+'];
  chart.host.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== chart.host) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act(event.shiftKey);
  });
  chart.host.addEventListener('blur', () => chart.point(null, 'keys'));
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select, textarea, dialog *')) return;
    if (event.key === '?') { event.preventDefault(); dialog.showModal(); }
    if (event.key === '/') { event.preventDefault(); find(); }
  });
}
