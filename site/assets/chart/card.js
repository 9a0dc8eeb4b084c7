// The words for one value: beside the pointer, read aloud, and held in a card with its links.
import { el, later } from '../lib/dom.js';
import { facts, say } from '../lib/facts.js';
import { commitLink, compareLink, date, isRun } from '../lib/format.js';
import { root } from '../lib/load.js';

const short = (commit, place) => commit?.slice(0, 8) ?? `push ${place + 1}`;

/** What is to say of a spot: lines of text, the most important first. */
export function words(chart, spot) {
  const { line, place, bucket } = spot;
  const { column } = line;
  const { commit, at } = chart.timeline.push(place);
  const many = chart.lines.length > 1 ? [column.server] : [];
  if (bucket && !column.points) {
    const size = bucket.end - bucket.from + 1;
    return [...many, `${say(column, spot.value, chart.percent)} in the middle of ${size} pushes`, `${say(column, bucket.min, chart.percent)} to ${say(column, bucket.max, chart.percent)}`];
  }
  const found = column.points ? facts(column, place, chart.percent) : { value: null };
  const marks = column === chart.main ? chart.marks.filter((mark) => mark.at === place) : [];
  return [
    ...many,
    found.value ? [found.value, found.interval].filter(Boolean).join(' ') : found.failure ? `✕ no value: ${found.failure}` : 'no value here',
    found.other,
    found.change,
    ...marks.filter((mark) => mark.kind !== 'failure').map((mark) => mark.text),
    [short(commit, place), at != null && date(at), chart.timeline.push(place).provisional && 'provisional: in no history'].filter(Boolean).join(' · '),
  ].filter(Boolean);
}

/** The address of the page that sets two pushes side by side: of their runs when both have one, else on GitHub. */
export function comparison(chart, a, b) {
  const [one, two] = [chart.timeline.push(a), chart.timeline.push(b)];
  if (isRun(one.run) && isRun(two.run)) return `${root}compare/index.html?a=${encodeURIComponent(one.run)}&b=${encodeURIComponent(two.run)}`;
  return compareLink(chart.repository, one.commit, two.commit);
}

/** A box beside the pointer, and a voice for screen readers. */
export function tip(chart) {
  const box = el('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
  const voice = el('p', { class: 'unseen', role: 'status', 'aria-live': 'polite' });
  const speak = later((text) => { voice.textContent = text; }, 250);
  chart.plot.frame.over.append(box);
  chart.listeners.push((how) => {
    const spot = chart.cursor;
    if (how !== 'hover' && how !== 'keys') { if (!spot) box.hidden = true; return; }
    box.hidden = !spot;
    if (!spot) return;
    const texts = words(chart, spot);
    box.replaceChildren(...texts.map((text) => el('div', null, text)));
    const { clientWidth } = chart.plot.frame.over;
    const right = spot.x > clientWidth / 2;
    box.style.left = right ? '' : `${Math.max(0, spot.x) + 12}px`;
    box.style.right = right ? `${clientWidth - Math.min(spot.x, clientWidth) + 12}px` : '';
    box.style.top = `${Math.max(0, Math.min(spot.y - 20, chart.plot.frame.over.clientHeight - box.offsetHeight))}px`;
    if (how === 'keys') speak(texts.join(', '));
  });
  return { voice, speak };
}

/** The card of the value that a click or Enter holds. */
export function card(chart) {
  const host = el('section', { class: 'card', 'aria-label': 'Held value', hidden: true });
  const link = (href, text, outside) => (href || null) && el('a', { href, rel: outside ? 'noreferrer' : null }, text);
  chart.listeners.push((how) => {
    host.hidden = !chart.pin;
    if (!chart.pin || how === 'hover' || how === 'keys') return;
    const { line, place } = chart.pin;
    const push = chart.timeline.push(place);
    const since = line.column.points && facts(line.column, place, chart.percent).since;
    const last = since == null ? {} : chart.timeline.push(since);
    const both = since != null && comparison(chart, since, place);
    const outside = compareLink(chart.repository, last.commit, push.commit);
    const [first, ...rest] = words(chart, chart.pin);
    host.replaceChildren(
      el('p', null, el('strong', null, first), ...rest.slice(0, -1).flatMap((text) => [' · ', text])),
      el('p', { class: 'quiet' }, el('code', null, push.commit ?? short(null, place)), push.at == null ? '' : ` · ${date(push.at, true)}`, push.provisional ? ' · provisional: in no history' : ''),
      el('p', { class: 'links' },
        link(commitLink(chart.repository, push.commit), 'commit on GitHub', true),
        link(outside, 'changes since the one before', true),
        (isRun(push.run) || null) && link(`${root}run/${encodeURIComponent(push.run)}.html`, 'the run'),
        both && both !== outside ? link(both, 'compare with the run before') : null,
        el('button', { type: 'button', class: 'close', click: () => { chart.hold(null); chart.host.focus(); } }, 'Let go')),
    );
    if (since != null && !last.commit) chart.timeline.need(since).then(() => { for (const listener of chart.listeners) listener('data'); }, () => {});
  });
  return host;
}
