// What shares the chart's x: the strip of the whole course, and the other metrics as small plots.
import { during } from '../lib/busy.js';
import { el } from '../lib/dom.js';
import { loadLine, loadPoints } from '../lib/data.js';
import { drawLine, look } from './draw.js';
import { Plot } from './plot.js';
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

export function multiples(chart, section, href) {
  const links = [...(section?.querySelectorAll('a[data-column]') ?? [])];
  const plots = new Map();
  const seen = new Set();
  const frame = () => new Promise(requestAnimationFrame);

  async function draw(link) {
    if (!plots.has(link)) {
      plots.set(link, null);
      // Without its file the sparkline stays, and says the same.
      const line = await loadLine(link.dataset.column).catch(() => null);
      await frame();
      const spark = link.querySelector('.spark');
      if (!line || !line.column.places) return;
      const host = el('div', { class: 'small', 'aria-hidden': 'true' });
      spark?.after(host);
      if (!spark) link.append(host);
      plots.set(link, { line, plot: new Plot(host, () => chart.source([line], []), () => 140, true) });
      spark?.classList.add('unseen');
    }
    const made = plots.get(link);
    if (!made) return;
    const [a, b] = chart.view.range;
    if (b - a < 600) await loadPoints(made.line).catch(() => {});
    made.plot.resize();
    made.plot.redraw();
  }

  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) { seen.add(target); during(draw(target)); } else seen.delete(target);
  }, { rootMargin: '100px' });
  for (const link of links) watch.observe(link);
  addEventListener('resize', () => seen.forEach((link) => during(draw(link))));

  let turn = 0;
  // One a frame, so that dragging never waits for them.
  async function drawSeen() {
    const mine = ++turn;
    for (const link of seen) {
      await frame();
      if (mine !== turn) return;
      during(draw(link));
    }
  }

  chart.listeners.push((what) => {
    if (what === 'hover' || what === 'keys') return;
    for (const link of links) link.search = href(new URLSearchParams(link.search).get('metric'));
    during(drawSeen());
  });
}
