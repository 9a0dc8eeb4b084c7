// Decodes a column (wirebench.column/v1) to arrays in which NaN means that there is no value.
import { load } from './load.js';
import { look } from './look.js';

/** Most values drawn one by one. */
export const MOST_POINTS = 400;

/** The numbers of a row: each delta is added to the sum so far; null is NaN and leaves the sum as it is. */
export function row({ scale, deltas }, as = (number) => number) {
  let sum = 0;
  return Float64Array.from(deltas, (delta) => (delta === null ? NaN : as((sum += delta) * scale)));
}

// Ratios are shown as what they differ by, percent.
const percent = (ratio) => (ratio - 1) * 100;

function fit(lists, length) {
  for (const list of lists) if (list && list.length !== length) throw new Error('its lists differ in length');
}

/** Every value of a points file, or of a short column. */
export function points({ from, value, ratio, half_permille: half }) {
  const out = { from, value: row(value), percent: ratio && row(ratio, percent) };
  fit([out.percent, half?.length ? half : null], out.value.length);
  out.half = Float64Array.from(out.value, (_, i) => (half?.[i] ?? NaN) / 1000);
  return out;
}

function buckets({ from, value, ratio }) {
  const decode = (envelope, as) => envelope && { min: row(envelope.min, as), middle: row(envelope.middle, as), max: row(envelope.max, as) };
  const out = { from, value: decode(value), percent: decode(ratio, percent) };
  for (const part of [out.value, out.percent]) fit(Object.values(part ?? {}), from.length);
  return out;
}

/** A column with its numbers decoded; its levels are in percent when it is about ratios. */
export function column(data) {
  if (!Number.isInteger(data.places) || data.places < 0) throw new Error('it has no number of places');
  const isRatio = data.basis === 'ratio';
  const out = {
    ...data, isRatio,
    breakAt: new Set(data.breaks.map(({ at }) => at)),
    failed: new Map(data.failures.map(({ at, why }) => [at, why])),
    steps: [...data.steps],
    levels: data.levels.map(({ from, to, level }) => ({ from, to, level: isRatio ? percent(level) : level })),
    points: data.points && points(data.points),
    buckets: data.buckets && buckets(data.buckets),
  };
  // So few values say nothing of a course.
  out.few = Boolean(out.points) && valuesIn(out, 0, out.places) <= 4;
  return out;
}

/** The value at a place, percent against the reference when asked so; NaN when there is none. */
export const valueAt = ({ points: all }, place, asPercent) => (asPercent ? all?.percent : all?.value)?.[place - all.from] ?? NaN;

/** How many values lie in places a to b. */
export function valuesIn({ points: { from, value } }, a, b) {
  let count = 0;
  for (const one of value.subarray(Math.max(0, a - from), Math.max(0, b - from + 1))) if (one === one) count++;
  return count;
}

/** A line: a column by its name, its page, and how it looks. */
export async function loadLine(name, page) {
  const found = await load(`columns/${name}`, 'wirebench.column/v1', column);
  return { name, page, column: found, look: look(found.server) };
}

/** Loads every value of a line; false when they are here already. */
export async function loadPoints({ column: into, name }) {
  if (into.points) return false;
  into.points = await load(`columns/${name}.points`, 'wirebench.points/v1', (data) => points(data.points));
  return true;
}
