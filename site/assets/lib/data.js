// Loads the site's data files, and decodes columns and pushes; an error says which file is wrong and how. NaN is no value.
import { during } from './busy.js';

export class Broken extends Error {}

export const root = globalThis.document?.documentElement.dataset.root ?? '';

export function parse(text, schema, file) {
  let data;
  try { data = JSON.parse(text); } catch { throw new Broken(`${file} is broken: it is not whole JSON.`); }
  if (data?.schema === schema) return data;
  const kind = typeof data?.schema === 'string' ? `the kind ${data.schema.slice(0, 60)}` : 'no known kind';
  throw new Broken(`${file} is of ${kind}; this page reads ${schema}. Reload the page, or build the site anew.`);
}

// What `decode` makes of a file; what it trips over makes the file broken.
export function whole(file, decode) {
  try { return decode(); } catch (error) {
    throw new Broken(`${file} is broken: ${error instanceof TypeError ? 'a part of it is missing' : error.message}.`);
  }
}

const loading = new Map();

// `decode(data, file)` of `data/<name>.json`. A file that failed is asked for again next time.
export function load(name, schema, decode = (data) => data) {
  const file = `data/${name}.json`;
  const get = async () => {
    const answer = await fetch(root + file).catch(() => { throw new Broken(`${file} could not be loaded: no answer.`); });
    if (!answer.ok) throw new Broken(answer.status === 404 ? `${file} is missing.` : `${file} could not be loaded: status ${answer.status}.`);
    const data = parse(await answer.text(), schema, file);
    return whole(file, () => decode(data, file));
  };
  if (!loading.has(name)) {
    loading.set(name, during(get()));
    loading.get(name).catch(() => loading.delete(name));
  }
  return loading.get(name);
}

export const MOST_POINTS = 400;

// The numbers of a row: each delta is added to the sum so far; null is NaN and leaves the sum as it is.
export function row({ scale, deltas }, as = (number) => number) {
  let sum = 0;
  return Float64Array.from(deltas, (delta) => (delta === null ? NaN : as((sum += delta) * scale)));
}

// Ratios are shown as what they differ by, percent.
const difference = (ratio) => (ratio - 1) * 100;

function sameLength(lists, length) {
  for (const list of lists) if (list && list.length !== length) throw new Error('its lists differ in length');
}

export function points({ from, value, ratio, half_permille: half }) {
  const out = { from, value: row(value), percent: ratio && row(ratio, difference) };
  sameLength([out.percent, half?.length ? half : null], out.value.length);
  out.half = Float64Array.from(out.value, (_, i) => (half?.[i] ?? NaN) / 1000);
  return out;
}

function buckets({ from, value, ratio }) {
  const decode = (envelope, as) => envelope && { min: row(envelope.min, as), middle: row(envelope.middle, as), max: row(envelope.max, as) };
  const out = { from, value: decode(value), percent: decode(ratio, difference) };
  for (const part of [out.value, out.percent]) sameLength(Object.values(part ?? {}), from.length);
  return out;
}

// A column with its numbers decoded; its levels are in percent when it is about ratios.
export function column(data) {
  if (!Number.isInteger(data.places) || data.places < 0) throw new Error('it has no number of places');
  const isRatio = data.basis === 'ratio';
  const out = {
    ...data, isRatio,
    breakAt: new Set(data.breaks.map(({ at }) => at)),
    failed: new Map(data.failures.map(({ at, why }) => [at, why])),
    steps: [...data.steps],
    levels: data.levels.map(({ from, to, level }) => ({ from, to, level: isRatio ? difference(level) : level })),
    points: data.points && points(data.points),
    buckets: data.buckets && buckets(data.buckets),
  };
  // So few values say nothing of a course.
  out.few = Boolean(out.points) && valuesIn(out, 0, out.places) <= 4;
  return out;
}

// The value at a place, percent against the reference when asked so; NaN when there is none.
export const valueAt = ({ points: all }, place, asPercent) => (asPercent ? all?.percent : all?.value)?.[place - all.from] ?? NaN;

export function valuesIn({ points: { from, value } }, a, b) {
  let count = 0;
  for (const one of value.subarray(Math.max(0, a - from), Math.max(0, b - from + 1))) if (one === one) count++;
  return count;
}

// The first and the last place at which a column has a value or a reason why not.
export function life({ points, buckets, failed, places }) {
  const found = [...failed.keys()];
  if (points) {
    const at = points.value.findIndex(Number.isFinite);
    if (at >= 0) found.push(points.from + at, points.from + points.value.findLastIndex(Number.isFinite));
  } else if (buckets) {
    const { middle } = buckets.value;
    const last = middle.findLastIndex(Number.isFinite);
    if (last >= 0) found.push(buckets.from[middle.findIndex(Number.isFinite)], (buckets.from[last + 1] ?? places) - 1);
  }
  return found.length ? [Math.min(...found), Math.max(...found)] : [0, Math.max(0, places - 1)];
}

export async function loadLine(name, page) {
  const found = await load(`columns/${name}`, 'wirebench.column/v1', column);
  return { name, page, column: found, };
}

// Loads every value of a line; false when they are here already.
export async function loadPoints({ column: into, name }) {
  if (into.points) return false;
  into.points = await load(`columns/${name}.points`, 'wirebench.points/v1', (data) => points(data.points));
  return true;
}

const A_FILE = 1000;
const fileOf = (place) => Math.floor(place / A_FILE);

function decode(data) {
  if (![data.at, data.runs].every((list) => list.length === data.commits.length)) throw new Error('its lists differ in length');
  return { ...data, provisional: new Set(data.provisional) };
}

export class Timeline {
  constructor(id, places) {
    Object.assign(this, { id, places, files: new Map() });
  }

  // What is known by now of a place: `{ commit, at, run, provisional }`.
  push(place) {
    const file = this.files.get(fileOf(place));
    const i = place - file?.from;
    return file ? { commit: file.commits[i], at: file.at[i], run: file.runs[i], message: file.messages?.[i], provisional: file.provisional.has(place) } : {};
  }

  #missing(a, b) {
    const out = [];
    for (let n = fileOf(Math.max(0, a)); n <= fileOf(b); n++) if (!this.files.has(n)) out.push(n);
    return out;
  }

  knows(a, b = a) { return !this.#missing(a, b).length; }

  // Loads places a to b; false when they are here already.
  async need(a, b = a) {
    const wanted = this.#missing(a, b);
    await Promise.all(wanted.map(async (n) => {
      const name = `pushes/${this.id}.${n}`;
      try { this.files.set(n, await load(name, 'wirebench.pushes/v1', decode)); } catch (error) {
        // Asked for once: places without a commit are numbers from now on.
        this.files.set(n, decode({ from: n * A_FILE, commits: [], at: [], runs: [] }));
        throw error;
      }
    }));
    return wanted.length > 0;
  }

  // The newest place of a commit; null when it is not here.
  async find(sha) {
    // The newest are asked for most: the others are loaded only when it is not among them.
    for (const from of [this.places - 1, 0]) {
      await this.need(from, this.places - 1);
      for (const n of [...this.files.keys()].sort((one, other) => other - one)) {
        const { from: first, commits } = this.files.get(n);
        const i = commits.findLastIndex((commit) => commit.startsWith(sha));
        if (i >= 0) return first + i;
      }
    }
    return null;
  }
}
