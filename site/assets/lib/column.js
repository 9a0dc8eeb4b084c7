// Decodes a column (wirebench.column/v1) to arrays in which NaN means that there is no value.
import { Broken } from './load.js';

/** Most values drawn one by one. */
export const MOST_POINTS = 400;

/** The numbers of a row: each delta is added to the sum so far, null is NaN and leaves the sum as it is. */
export function row({ scale, deltas }) {
  const out = new Float64Array(deltas.length);
  let sum = 0;
  for (let i = 0; i < deltas.length; i++) out[i] = deltas[i] === null ? NaN : (sum += deltas[i]) * scale;
  return out;
}

// Ratios are shown as what they differ by, percent.
const percent = (ratios) => ratios && row(ratios).map((ratio) => (ratio - 1) * 100);

function points({ from, value, ratio, half_permille }) {
  const values = row(value);
  const half = new Float64Array(values.length).fill(NaN);
  half_permille?.forEach((half_width, i) => { if (half_width !== null) half[i] = half_width / 1000; });
  return same({ from, value: values, percent: percent(ratio), half }, values.length);
}

function same(lists, length) {
  if ([lists.value, lists.percent, lists.half].some((list) => list && list.length !== length)) throw new Error('lists differ in length');
  return lists;
}

const three = (envelope, decode, length) => envelope && Object.fromEntries(['min', 'middle', 'max'].map((part) => {
  const list = decode(envelope[part]);
  if (list.length !== length) throw new Error('lists differ in length');
  return [part, list];
}));

const buckets = ({ from, value, ratio }) => ({ from, value: three(value, row, from.length), percent: three(ratio, percent, from.length) });

const whole = (file, decode) => {
  try { return decode(); } catch (error) {
    throw new Broken(`${file} is broken: ${error instanceof TypeError ? 'a part of it is missing' : error.message}.`);
  }
};

/** A column with its numbers decoded; `levels` are on the basis, in percent when that is ratios. */
export const column = (data, file) => whole(file, () => {
  const ratio = data.basis === 'ratio';
  if (!Number.isInteger(data.places) || data.places < 0) throw new Error('its number of places is none');
  const decoded = data.points && points(data.points);
  return {
    ...data,
    ratio,
    // So few values say nothing of a course.
    few: Boolean(decoded) && valuesIn(decoded, 0, data.places) <= 4,
    breakAt: new Set(data.breaks.map((entry) => entry.at)),
    levels: data.levels.map(({ from, to, level }) => ({ from, to, level: ratio ? (level - 1) * 100 : level })),
    steps: data.steps.map((step) => ({ ...step })),
    failures: data.failures.map((failure) => ({ ...failure })),
    points: decoded,
    buckets: data.buckets && buckets(data.buckets),
  };
});

/** All points of a column (wirebench.points/v1). */
export const allPoints = (data, file) => whole(file, () => points(data.points));

/** How many values lie in places a to b. */
export function valuesIn(points, a, b) {
  let count = 0;
  for (let i = Math.max(0, a - points.from), last = Math.min(points.value.length - 1, b - points.from); i <= last; i++) {
    if (points.value[i] === points.value[i]) count++;
  }
  return count;
}

/** Smallest, middle and largest of stretches of `list` between places a and b: at most about `most`, none across a break. */
export function bucketise(list, offset, a, b, breakAt, most = MOST_POINTS) {
  const size = Math.max(1, Math.ceil((b - a + 1) / most));
  const out = { from: [], min: [], middle: [], max: [] };
  let stretch = [];
  const close = () => {
    const sorted = Float64Array.from(stretch).sort();
    const half = sorted.length >> 1;
    out.min.push(sorted.length ? sorted[0] : NaN);
    out.max.push(sorted.length ? sorted.at(-1) : NaN);
    out.middle.push(!sorted.length ? NaN : sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2);
    stretch = [];
  };
  for (let place = a, start = a; place <= b; place++) {
    if (place === a || place - start >= size || breakAt.has(place)) {
      if (place > a) close();
      out.from.push(start = place);
    }
    const value = list[place - offset];
    if (value === value && value !== undefined) stretch.push(value);
  }
  close();
  return out;
}
