// The strip below the chart: the whole course, with what is in view as a window.
import { el } from '../lib/dom.js';
import { drawLine, look } from './draw.js';
import { extent, room, shape } from './view.js';

// The whole course, and what is in view as a window to be dragged, or drawn anew.
export function strip(chart) {
  const canvas = el('canvas');
  const frame = el('div', { class: 'window' });
  const host = el('div', { class: 'strip', 'aria-hidden': 'true' }, canvas, frame);
  const placeAt = (event) => ((event.clientX - host.getBoundingClientRect().left) / host.clientWidth) * chart.places - 0.5;

  const draw = () => {
    const px = devicePixelRatio;
    const box = { left: 0, top: 0, width: canvas.width = host.clientWidth * px, height: canvas.height = host.clientHeight * px };
    const line = { column: chart.main, look: look(chart.main.server), shape: shape(chart.main, chart.whole, chart.percent, true) };
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
