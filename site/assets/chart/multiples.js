// The other metrics of the series as small plots on the same x, each made when it comes into view.
import { el, idle } from '../lib/dom.js';
import { loadLine } from './chart.js';
import { Plot } from './plot.js';

export function multiples(chart, section, href) {
  if (!section) return;
  const links = [...section.querySelectorAll('a[data-column]')];
  const plots = new Map();
  const seen = new Set();
  let turn = 0;

  const make = async (link) => {
    let line;
    try { line = await loadLine(link.dataset.column); } catch { return; } // The still stays, and says the same.
    await idle();
    const still = link.querySelector('img, svg');
    const host = el('div', { class: 'small', 'aria-hidden': 'true' });
    link.querySelector('img') && host.setAttribute('title', link.querySelector('img').alt);
    if (still) still.after(host); else link.append(host);
    const plot = new Plot(host, () => chart.source([line], []), { small: true, height: () => 140 });
    if (still) still.classList.add('unseen');
    plots.set(link, { plot, line });
    if (seen.has(link)) draw(link);
  };
  const draw = async (link) => {
    const made = plots.get(link);
    if (!made) return;
    const [a, b] = chart.view.range;
    if (b - a < 600) await chart.points(made.line).catch(() => {});
    made.plot.resize();
    made.plot.redraw();
  };
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) { seen.delete(target); continue; }
      seen.add(target);
      if (plots.has(target)) draw(target); else { plots.set(target, null); make(target); }
    }
  }, { rootMargin: '100px' });
  for (const link of links) watch.observe(link);
  addEventListener('resize', () => { for (const link of seen) draw(link); });

  chart.listeners.push(async (how) => {
    if (how === 'hover' || how === 'keys' || how === 'marks') return;
    for (const link of links) link.search = href(new URLSearchParams(link.search).get('metric'));
    const mine = ++turn;
    // One a frame, so that dragging never waits for them.
    for (const link of seen) {
      await new Promise(requestAnimationFrame);
      if (mine !== turn) return;
      draw(link);
    }
  });
}
