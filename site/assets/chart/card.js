// The words for one value: beside the pointer, read aloud, held in a card with its links, and in the table of what is in view.
import { later } from '../lib/busy.js';
import { el } from '../lib/dom.js';
import { root, valueAt } from '../lib/data.js';
import { commitLink, compareLink, date, facts, isRun, number, percent, quantity, short } from '../lib/text.js';

const runLink = (run) => (isRun(run) ? `${root}run/${encodeURIComponent(run)}.html` : null);
const link = (href, ...content) => (href ? el('a', { href, rel: /^https/.test(href) ? 'noreferrer' : null }, ...content) : null);
const notesAt = (chart, place) => chart.marks.filter(({ at, kind }) => at === place && kind !== 'failure');

// What is to say of a spot: lines of text, the most important first.
export function words(chart, { line: { column }, place, value, stretch }) {
  const { commit, at, message, provisional } = chart.timeline.push(place);
  const say = (one) => (chart.percent ? percent(one) : quantity(one, column.unit));
  const name = chart.lines.length > 1 && column.server;
  if (stretch && !column.points) return [name, `${say(value)} in the middle of ${stretch.end - stretch.from + 1} pushes`, `${say(stretch.min)} to ${say(stretch.max)}`].filter(Boolean);
  const found = facts(column, place, chart.percent);
  return [
    name,
    found.value ? `${found.value} ${found.interval ?? ''}` : found.failure ? `✕ no value: ${found.failure}` : 'no value here',
    found.other, found.change,
    ...(column === chart.main ? notesAt(chart, place).map(({ text }) => text) : []),
    message, [short(commit, place), date(at), provisional && 'provisional: in no history'].filter(Boolean).join(' · '),
  ].filter(Boolean);
}

export function tip(chart) {
  const box = el('div', { class: 'tip', 'aria-hidden': 'true' });
  const voice = el('p', { class: 'unseen', role: 'status' });
  const speak = later((text) => { voice.textContent = text; }, 250);
  const { over } = chart.plot.frame;
  over.append(box);
  chart.listeners.push((what) => {
    const { cursor } = chart;
    // After a zoom the value stands elsewhere: it is shown again with the next move.
    box.hidden = !cursor || what === 'push' || what === 'replace';
    if (!cursor || (what !== 'hover' && what !== 'keys')) return;
    const texts = words(chart, cursor);
    box.replaceChildren(...texts.map((text) => el('div', null, text)));
    const right = cursor.x > over.clientWidth / 2;
    box.style.left = right ? '' : `${Math.max(0, cursor.x) + 12}px`;
    box.style.right = right ? `${Math.max(0, over.clientWidth - cursor.x) + 12}px` : '';
    box.style.top = `${Math.max(0, Math.min(cursor.y - 20, over.clientHeight - box.offsetHeight))}px`;
    if (what === 'keys') speak(texts.join(', '));
  });
  return voice;
}

export function card(chart) {
  const host = el('section', { class: 'card', 'aria-label': 'Kept value', hidden: true });
  const close = el('button', { type: 'button', click: () => { chart.hold(null); chart.host.focus(); } }, 'Close the card');
  chart.listeners.push((what) => {
    const { held, timeline, repository } = chart;
    host.hidden = !held;
    if (!held || what === 'hover' || what === 'keys') return;
    const { line: { column }, place } = held;
    const { commit, at, run } = timeline.push(place);
    const since = column.points && facts(column, place).since;
    const github = since != null && compareLink(repository, timeline.push(since).commit, commit);
    const [first, ...rest] = words(chart, held);
    host.replaceChildren(
      el('p', null, el('strong', null, first), ...rest.map((text) => ` · ${text}`)),
      el('p', { class: 'quiet' }, el('code', null, commit ?? short(commit, place)), ` ${date(at, true)}`),
      el('p', { class: 'links' }, link(commitLink(repository, commit), 'commit on GitHub'), link(github, 'changes since the one before'),
        link(runLink(run), 'the run'), close));
  });
  return host;
}

const MOST_ROWS = matchMedia('(max-width: 44rem)').matches ? 8 : 20;

export function commits(chart, section) {
  const table = section?.querySelector('table');
  if (!table) return;
  const more = el('p', { class: 'quiet' });
  (table.closest('.scroll') ?? table).after(more);
  const draw = () => {
    const { main, timeline, view: { range: [a, b] } } = chart;
    if (!main.points) return;
    const places = [];
    for (let place = b; place >= a; place--) if (main.failed.has(place) || Number.isFinite(valueAt(main, place))) places.push(place);
    const shown = places.slice(0, MOST_ROWS);
    if (shown.length && !timeline.knows(shown.at(-1), b)) { chart.gather([timeline.need(shown.at(-1), b)]).then((news) => news && draw()); return; }
    table.replaceChildren(
      el('caption', null, shown.length ? `The newest ${shown.length} in view, newest first` : 'Nothing in view has a value'),
      el('thead', null, el('tr', null, ...['commit', 'message', 'date', 'value', '95 %', 'change', 'note'].map((name, i) => el('th', { scope: 'col', class: i > 2 && i < 6 && 'number' }, name)))),
      el('tbody', null, ...shown.map((place) => commitRow(chart, place))));
    // Empty columns are left out.
    for (let i = table.tHead.rows[0].cells.length - 1; i > 0; i--) {
      if ([...table.tBodies[0].rows].every((row) => !row.cells[i].textContent)) for (const row of [...table.rows]) row.deleteCell(i);
    }
    more.textContent = places.length > MOST_ROWS ? `… ${number(places.length - MOST_ROWS)} more in view` : '';
  };
  const soon = later(draw, 100);
  chart.listeners.push((what) => { if (what !== 'hover' && what !== 'keys') soon(); });
}

function commitRow(chart, place) {
  const { commit, at, run, message, provisional } = chart.timeline.push(place);
  const { value, other, interval, change, failure } = facts(chart.main, place, chart.percent);
  const code = el('code', null, short(commit, place));
  const notes = [
    failure && `✕ ${failure}`,
    ...notesAt(chart, place).map(({ colour, text }) => el('span', { class: colour }, text)),
    provisional && 'provisional',
    link(runLink(run), 'run'),
  ].filter(Boolean);
  const brief = (text) => text?.split(' against ')[0];
  const texts = [value ? [brief(value), other && `(${brief(other)})`].filter(Boolean).join(' ') : null, interval, change?.startsWith('not') ? 'not comparable' : brief(change)];
  return el('tr', null, el('td', { class: 'nowrap' }, link(commitLink(chart.repository, commit), code) ?? code), el('td', null, message ?? ''), el('td', { class: 'nowrap' }, date(at)),
    ...texts.map((text, i) => el('td', { class: 'number', 'data-label': text && ['value', null, 'change'][i] }, text ?? '')), el('td', null, ...notes.flatMap((note, i) => (i ? [' · ', note] : [note]))));
}
