// Mouse, pen and finger: on the plot dragging zooms, a click holds a value, Ctrl and the wheel zoom; and the strip of the whole course below it.
import { el } from '../lib/dom.js';
import { zoom } from '../lib/range.js';
import { drawLine } from './draw.js';
import { extent, room, shape } from './shape.js';

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

/** The whole course, and what is in view as a window to be dragged, or drawn anew. */
export function strip(chart) {
  const canvas = el('canvas');
  const frame = el('div', { class: 'window' });
  const host = el('div', { class: 'strip', 'aria-hidden': 'true' }, canvas, frame);
  const placeAt = (event) => ((event.clientX - host.getBoundingClientRect().left) / host.clientWidth) * chart.places - 0.5;

  const draw = () => {
    const px = devicePixelRatio;
    const box = { left: 0, top: 0, width: canvas.width = host.clientWidth * px, height: canvas.height = host.clientHeight * px };
    const line = { ...chart.lines[0], shape: shape(chart.main, chart.whole, chart.percent, true) };
    const found = line.shape && extent([line.shape]);
    if (!found) return;
    const [low, high] = room(found, {});
    const X = (place) => ((place + 0.5) / chart.places) * box.width;
    drawLine(canvas.getContext('2d'), { X, Y: (value) => (1 - (value - low) / (high - low)) * box.height, box, px, small: true, colours: chart.colours, hollow: () => false }, line);
  };
  const mark = () => {
    const [a, b] = chart.view.range;
    frame.style.left = `${(a / chart.places) * 100}%`;
    frame.style.width = `${((b - a + 1) / chart.places) * 100}%`;
  };

  let drag = null;
  host.addEventListener('pointerdown', (event) => {
    const [at, [a, b]] = [placeAt(event), chart.view.range];
    drag = { at, moves: !chart.isWhole && at > a - 1 && at < b + 1 && [a, b] };
    host.setPointerCapture(event.pointerId);
  });
  host.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const to = placeAt(event);
    if (drag.moves) chart.set({ range: drag.moves.map((side) => side + Math.round(to - drag.at)) });
    else if (Math.abs(to - drag.at) > chart.places / 200) chart.set({ range: [Math.min(drag.at, to), Math.max(drag.at, to)] });
  });
  host.addEventListener('pointerup', () => { drag = null; });
  host.addEventListener('pointercancel', () => { drag = null; });

  let drawn = chart.percent;
  chart.listeners.push((what) => {
    mark();
    if (what === 'colours' || drawn !== chart.percent) { drawn = chart.percent; draw(); }
  });
  new ResizeObserver(draw).observe(host);
  mark();
  return host;
}
