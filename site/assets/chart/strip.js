// The strip below the chart: the whole course, and the visible part as a window that can be dragged.
import { el } from '../lib/dom.js';
import { clamp } from '../lib/range.js';
import { drawLine } from './paint.js';
import { extent, room, shape } from './shape.js';

const HEIGHT = 44;

export function strip(chart) {
  const canvas = el('canvas', { class: 'course', 'aria-hidden': 'true' });
  const shown = el('div', { class: 'window' });
  const host = el('div', { class: 'strip', title: 'The whole course: drag the window, or draw a new one' }, canvas, shown);
  const place = (x) => (x / host.clientWidth) * chart.places - 0.5;

  const draw = () => {
    const px = devicePixelRatio;
    const width = host.clientWidth;
    canvas.width = width * px;
    canvas.height = HEIGHT * px;
    const ctx = canvas.getContext('2d');
    const [line] = chart.lines;
    const found = shape(line.column, chart.whole, chart.percent, true);
    if (!found) return;
    const [low, high] = room(extent([found]), {});
    const box = { left: 0, top: 0, width: canvas.width, height: canvas.height };
    drawLine(ctx, {
      box, px, small: true, colours: chart.colours, hollow: () => false,
      X: (at) => ((at + 0.5) / chart.places) * box.width,
      Y: (value) => box.height * (1 - (value - low) / (high - low)),
    }, { ...line, shape: found });
  };
  const mark = () => {
    const [a, b] = chart.view.range;
    shown.style.left = `${(a / chart.places) * 100}%`;
    shown.style.width = `${((b - a + 1) / chart.places) * 100}%`;
  };

  let drag = null;
  host.addEventListener('pointerdown', (event) => {
    const at = place(event.offsetX + (event.target === shown ? shown.offsetLeft : 0));
    const [a, b] = chart.view.range;
    drag = { at, range: [a, b], moves: at >= a - 0.5 && at <= b + 0.5 && !chart.isWhole };
    host.setPointerCapture(event.pointerId);
  });
  host.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const to = place(event.clientX - host.getBoundingClientRect().left);
    const by = Math.round(to - drag.at);
    if (drag.moves) chart.set({ range: clamp([drag.range[0] + by, drag.range[1] + by], chart.places) });
    else if (Math.abs(by) > chart.places / 200) chart.set({ range: [Math.min(drag.at, to), Math.max(drag.at, to)] });
  });
  for (const name of ['pointerup', 'pointercancel']) host.addEventListener(name, () => { drag = null; });

  let drawn = null;
  chart.listeners.push((how) => {
    mark();
    const state = `${chart.percent} ${Boolean(chart.main.points)} ${chart.view.log}`;
    if (how === 'colours' || state !== drawn) { drawn = state; draw(); }
  });
  new ResizeObserver(draw).observe(host);
  mark();
  return host;
}
