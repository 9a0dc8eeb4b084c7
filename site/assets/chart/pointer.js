// Mouse, pen and finger on the plot: dragging across zooms, a click holds the nearest value, Ctrl and the wheel zoom.
import { zoom } from '../lib/range.js';

export function follow(chart) {
  const { over } = chart.plot.frame;
  let start = null;
  const left = (event) => event.clientX - over.getBoundingClientRect().left;
  const top = (event) => event.clientY - over.getBoundingClientRect().top;
  const end = () => { start = null; chart.plot.frame.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false); };
  over.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    start = left(event);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointermove', (event) => {
    const x = Math.max(0, Math.min(over.clientWidth, left(event)));
    if (start === null) { if (event.pointerType !== 'touch') chart.point(chart.under(x, top(event))); return; }
    if (Math.abs(x - start) > 4) chart.plot.frame.setSelect({ left: Math.min(x, start), width: Math.abs(x - start), top: 0, height: over.clientHeight }, false);
  });
  over.addEventListener('pointerup', (event) => {
    if (start === null) return;
    const x = Math.max(0, Math.min(over.clientWidth, left(event)));
    const from = start;
    end();
    if (Math.abs(x - from) > 4) {
      chart.set({ range: [Math.ceil(chart.plot.placeAt(Math.min(x, from)) - 0.2), Math.floor(chart.plot.placeAt(Math.max(x, from)) + 0.2)] });
    } else {
      const spot = chart.under(x, top(event));
      chart.point(spot);
      if (spot) chart.hold(spot);
    }
  });
  over.addEventListener('pointercancel', end);
  over.addEventListener('pointerleave', () => { if (start === null) chart.point(null); });
  over.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    chart.set({ range: zoom(chart.view.range, event.deltaY > 0 ? 1.25 : 0.8, chart.plot.placeAt(left(event)), chart.places) });
  }, { passive: false });
}
