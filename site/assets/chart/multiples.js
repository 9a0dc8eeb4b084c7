// The other metrics of the series as small plots on the same x, each made when it comes into view.
import { el } from '../lib/dom.js';
import { loadLine, loadPoints } from '../lib/column.js';
import { Plot } from './plot.js';

export function multiples(chart, section, href) {
  const links = [...(section?.querySelectorAll('a[data-column]') ?? [])];
  const plots = new Map();
  const seen = new Set();
  const frame = () => new Promise(requestAnimationFrame);

  async function draw(link) {
    if (!plots.has(link)) {
      plots.set(link, null);
      // Without its file the still stays, and says the same.
      const line = await loadLine(link.dataset.column).catch(() => null);
      await frame();
      const still = link.querySelector('img, svg');
      if (!line || !line.column.places) return;
      const host = el('div', { class: 'small', 'aria-hidden': 'true' });
      still?.after(host);
      if (!still) link.append(host);
      plots.set(link, { line, plot: new Plot(host, () => chart.source([line], []), () => 140, true) });
      still?.classList.add('unseen');
    }
    const made = plots.get(link);
    if (!made) return;
    const [a, b] = chart.view.range;
    if (b - a < 600) await loadPoints(made.line).catch(() => {});
    made.plot.resize();
    made.plot.redraw();
  }

  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) { seen.add(target); draw(target); } else seen.delete(target);
  }, { rootMargin: '100px' });
  for (const link of links) watch.observe(link);
  addEventListener('resize', () => seen.forEach(draw));

  let turn = 0;
  chart.listeners.push(async (what) => {
    if (what === 'hover' || what === 'keys') return;
    for (const link of links) link.search = href(new URLSearchParams(link.search).get('metric'));
    const mine = ++turn;
    // One a frame, so that dragging never waits for them.
    for (const link of seen) {
      await frame();
      if (mine !== turn) return;
      draw(link);
    }
  });
}
