// Mouse, finger and keyboard on the chart, with the help that `?` opens.
import { reach, same, zoom } from './view.js';

export function follow(chart) {
  const { frame } = chart.plot;
  const { over } = frame;
  let start = null;
  const left = (event) => Math.max(0, Math.min(over.clientWidth, event.clientX - over.getBoundingClientRect().left));
  const nearest = (event) => chart.under(left(event), event.clientY - over.getBoundingClientRect().top);
  const select = (a, b) => frame.setSelect({ left: Math.min(a, b), width: Math.abs(a - b), top: 0, height: over.clientHeight }, false);
  const on = (name, act, options) => over.addEventListener(name, act, options);
  const stop = () => { start = null; select(0, 0); };
  on('pointerdown', (event) => {
    if (event.button !== 0) return;
    start = left(event);
    over.setPointerCapture(event.pointerId);
  });
  on('pointermove', (event) => {
    if (start !== null) select(start, left(event));
    else if (event.pointerType !== 'touch') chart.point(nearest(event));
  });
  on('pointerup', (event) => {
    if (start === null) return;
    const [a, b] = [start, left(event)].sort((one, other) => one - other);
    stop();
    if (b - a > 4) chart.point(null);
    if (b - a > 4) { chart.set({ range: [Math.ceil(chart.plot.placeAt(a) - 0.2), Math.floor(chart.plot.placeAt(b) + 0.2)] }); return; }
    const spot = nearest(event);
    chart.point(spot);
    if (spot) chart.hold(spot);
  });
  on('pointercancel', stop);
  on('pointerleave', () => { if (start === null) chart.point(null); });
  on('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    chart.set({ range: zoom(chart.view.range, event.deltaY > 0 ? 1.25 : 0.8, chart.plot.placeAt(left(event)), chart.places) });
  }, { passive: false });
}


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
  const scale = (factor) => chart.set({ range: zoom(chart.view.range, factor, chart.cursor?.place ?? (chart.view.range[0] + chart.view.range[1]) / 2, chart.places) });
  const keys = {
    ArrowLeft: (ten) => step(ten ? -10 : -1), ArrowRight: (ten) => step(ten ? 10 : 1), ArrowUp: () => line(-1), ArrowDown: () => line(1),
    Home: () => go(chart.view.range[0]), End: () => go(chart.view.range[1]),
    '+': () => scale(0.5), '=': () => scale(0.5), '-': () => scale(2), 0: () => chart.set({ range: chart.whole }, 'push'),
    n: () => mark(1), p: () => mark(-1),
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
    if (!plain(event) || event.target.matches('input, select, textarea, dialog[open] *')) return;
    const act = { '?': () => dialog.showModal(), '/': find }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
