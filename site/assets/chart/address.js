// The view in the page's address: readable, ranges as commits, so that a link shows the same tomorrow.

const sha = (text) => (/^[0-9a-f]{7,40}$/.test(text ?? '') ? text.slice(0, 12) : null);

// What an address asks for. Parts that make no sense count as not there; commits that are none are named.
export function read(search) {
  const query = new URLSearchParams(search);
  return {
    nonsense: ['from', 'to', 'pin'].filter((name) => query.has(name) && !sha(query.get(name))),
    metric: query.get('metric'), from: sha(query.get('from')), to: sha(query.get('to')), held: sha(query.get('pin')),
    raw: query.get('y') === 'value', zero: query.has('zero'), all: query.get('lines') === 'all',
    lines: (query.get('with') ?? '').split(',').filter((page) => /^[\w.~@+-]{1,200}$/.test(page)).slice(0, 60),
  };
}

export function write({ metric, from, to, raw, zero, all, lines, held }) {
  const parts = { metric, from, to, y: raw && 'value', zero: zero && 1, lines: all && 'all', with: !all && lines?.join(), pin: held };
  const query = new URLSearchParams(Object.entries(parts).filter(([, value]) => value)).toString().replaceAll('%2C', ',');
  return query && `?${query}`;
}

// What is asked for as places, `{ range, held, notice }`; the notice names commits that are not known.
export async function places({ from, to, held, nonsense }, timeline) {
  const missing = nonsense.map((name) => `“${name}” in the address is no commit: left out.`);
  const at = async (commit, otherwise, shown) => {
    const place = commit && (await timeline.find(commit));
    if (commit && place === null) missing.push(`Commit ${commit} is not in this history: shown ${shown}.`);
    return place ?? otherwise;
  };
  const [a, b] = [await at(from, 0, 'from its start'), await at(to, timeline.places - 1, 'up to its end')];
  return { range: from || to ? [Math.min(a, b), Math.max(a, b)] : null, held: await at(held, null, 'without it'), notice: missing.join(' ') };
}

// The query of a chart's view with a metric; null is the page's first.
export function query({ view, timeline, held, lines, isWhole }, metric) {
  const [from, to] = isWhole ? [] : view.range.map((place) => timeline.push(place).commit);
  return write({ ...view, metric, from, to, lines: lines.slice(1).map(({ page }) => page), held: held && timeline.push(held.place).commit });
}

let turn = 0;

// Writes a chart's view into the address: a step of the history for `push`, else in place of the last one.
export async function keep(chart, metric, how) {
  const mine = ++turn;
  if (how === 'push') history.pushState(null, '', location.href);
  // Dragging asks many times a second; browsers allow a hundred in half a minute.
  else await new Promise((done) => setTimeout(done, 120));
  const wanted = [...(chart.isWhole ? [] : chart.view.range), ...(chart.held ? [chart.held.place] : [])];
  await chart.gather(wanted.map((place) => chart.timeline.need(place)));
  if (mine === turn) history.replaceState(null, '', location.pathname + query(chart, metric));
}
