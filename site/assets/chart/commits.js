// The visible table of points: the newest of the pushes in view.
import { el } from '../lib/dom.js';
import { facts } from '../lib/facts.js';
import { commitLink, date, isRun, number } from '../lib/format.js';
import { root } from '../lib/load.js';

const MOST = 20;

export function commits(chart, section) {
  const table = section?.querySelector('table');
  if (!table) return;
  const more = el('p', { class: 'quiet', id: 'commits-more' });
  (table.closest('.scroll') ?? table).after(more);
  let shown = '';

  const draw = () => {
    const { main, view: { range: [a, b] }, timeline } = chart;
    if (!main.points || !timeline.knows(b, b)) return;
    const places = [];
    const failed = new Set(main.failures.map((failure) => failure.at));
    const value = (place) => main.points.value[place - main.points.from];
    let total = 0;
    for (let place = b; place >= a; place--) if (value(place) === value(place) && value(place) !== undefined || failed.has(place)) { total++; if (places.length < MOST) places.push(place); }
    const known = places.length ? timeline.knows(places.at(-1), b) : true;
    const state = `${a} ${b} ${chart.percent} ${known} ${chart.releases.length} ${chart.repository}`;
    if (state === shown) return;
    shown = state;
    if (!known) chart.gather([timeline.need(places.at(-1), b)]).then((news) => news && draw());
    table.replaceChildren(
      el('caption', null, places.length ? `The newest ${places.length} in view, newest first` : 'No run in view has a value'),
      el('thead', null, el('tr', null, ...['Commit', 'Date', 'Value', '95 %', 'Change', 'Note'].map((name, i) => el('th', { scope: 'col', class: i > 1 && i < 5 ? 'number' : null }, name)))),
      el('tbody', null, ...places.map((place) => row(chart, place))));
    more.textContent = total > places.length ? `… ${number(total - places.length, 9)} more in view` : '';
  };
  chart.listeners.push((how) => { if (how !== 'hover' && how !== 'keys') draw(); });
  draw();
}

function row(chart, place) {
  const { commit, at, run, provisional } = chart.timeline.push(place);
  const { value, other, interval, change, failure } = facts(chart.main, place, chart.percent);
  const href = commitLink(chart.repository, commit);
  const name = el('code', null, commit?.slice(0, 8) ?? `push ${place + 1}`);
  const notes = chart.marks.filter((mark) => mark.at === place && mark.kind !== 'failure').map((mark) => el('span', { class: mark.colour }, mark.text));
  if (failure) notes.unshift(el('span', null, `✕ ${failure}`));
  if (provisional) notes.push(el('span', null, 'provisional'));
  if (isRun(run)) notes.push(el('a', { href: `${root}run/${encodeURIComponent(run)}.html` }, 'run'));
  const percent = change?.endsWith('before') && change.split(' against')[0];
  return el('tr', null,
    el('td', null, href ? el('a', { href, rel: 'noreferrer' }, name) : name),
    el('td', { class: 'nowrap' }, at == null ? '' : date(at)),
    el('td', { class: 'number' }, value ? [value, other && `(${other})`].filter(Boolean).join(' ').replace(/ against [^()]*/, '') : '–'),
    el('td', { class: 'number' }, interval ?? ''),
    el('td', { class: 'number' }, percent || (change ? 'not comparable' : '')),
    el('td', null, ...notes.flatMap((note, i) => (i ? [' · ', note] : [note]))));
}
