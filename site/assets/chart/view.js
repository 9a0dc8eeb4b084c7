// Which places are in view, and what of a column is drawn there: dots while they are few, else smallest, middle and largest of stretches.
import { MOST_POINTS, valueAt, valuesIn } from '../lib/data.js';

const FEWEST = 5;

// The nearest range that lies in `places` and is not too narrow.
export function clamp([a, b], places) {
  const width = Math.min(places, Math.max(FEWEST, Math.round(b) - Math.round(a) + 1));
  const first = Math.max(0, Math.min(places - width, Math.round(a)));
  return [first, Math.max(first, first + width - 1)];
}

// A range `factor` times as wide, in which place `around` stays where it is.
export function zoom([a, b], factor, around, places) {
  const next = clamp([a, b].map((side) => around + (side - around) * factor), places);
  // A narrow range must grow by something, or the key seems dead.
  return factor > 1 && same(next, [a, b]) ? clamp([a - 1, b + 1], places) : next;
}

// The range moved just so far that `place` is in it.
export function reach([a, b], place, places) {
  const by = place < a ? place - a : place > b ? place - b : 0;
  return clamp([a + by, b + by], places);
}

export const same = (one, other) => one[0] === other[0] && one[1] === other[1];

// The number of the last entry of ascending `list` that is not above `place`; -1 when all are.
export function lastUpTo(list, place) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= place) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// The place nearest to `place` between a and b for which `has` holds; null when there is none.
export function nearestPlace(place, a, b, has) {
  const at = Math.max(a, Math.min(b, Math.round(place)));
  for (let off = 0; off <= b - a; off++) {
    for (const one of [at - off, at + off]) if (one >= a && one <= b && has(one)) return one;
  }
  return null;
}

export function nearestSpot(spots, x, y) {
  const far = (spot) => Math.hypot(spot.x - x, spot.y - y);
  return spots.reduce((best, spot) => (best && far(best) <= far(spot) ? best : spot), null);
}

// Smallest, middle and largest of stretches between places a and b: about 400, none across a break.
export function bucketise(column, a, b, asPercent, most = MOST_POINTS) {
  const size = Math.ceil((b - a + 1) / most);
  const out = { from: [], min: [], middle: [], max: [] };
  for (let start = a, place = a; place <= b; start = place) {
    const found = [];
    do {
      const value = valueAt(column, place++, asPercent);
      if (value === value) found.push(value);
    } while (place <= b && place - start < size && !column.breakAt.has(place));
    found.sort((one, other) => one - other);
    const half = found.length >> 1;
    out.from.push(start);
    out.min.push(found[0] ?? NaN);
    out.middle.push(found.length % 2 ? found[half] : (found[half - 1] + found[half]) / 2);
    out.max.push(found.at(-1) ?? NaN);
  }
  return out;
}

// `{ a, b, at(place), half(place) }`, or stretches `{ from, min, middle, max, end }`; null when the column has no such values. `summary` asks for the stretches of the file.
export function shape(column, [a, b], asPercent, summary) {
  const part = asPercent ? 'percent' : 'value';
  const { points, buckets } = column;
  const ready = buckets?.[part];
  if (points?.[part] && !(summary && ready)) {
    if (valuesIn(column, a, b) <= MOST_POINTS) {
      const at = (place) => valueAt(column, place, asPercent);
      const share = (place) => (asPercent === column.isRatio ? points.half[place - points.from] : NaN);
      return { a, b, at, half: (place) => (at(place) + (asPercent ? 100 : 0)) * share(place) };
    }
    if (!ready || b - a < column.places / 2) return { ...bucketise(column, a, b, asPercent), end: b };
  }
  if (!ready) return null;
  const [first, past] = [Math.max(0, lastUpTo(buckets.from, a)), lastUpTo(buckets.from, b) + 1];
  const [from, min, middle, max] = [buckets.from, ready.min, ready.middle, ready.max].map((list) => list.slice(first, past));
  return { from, min, middle, max, end: (buckets.from[past] ?? column.places) - 1 };
}

// Smallest and largest of what shapes show; null when they show nothing.
export function extent(shapes) {
  let [low, high] = [Infinity, -Infinity];
  const see = (value) => { if (value < low) low = value; if (value > high) high = value; };
  for (const { at, half, a, b, min, max } of shapes) {
    for (let place = a; place <= b; place++) for (const side of [-1, 1]) see(at(place) + side * (half(place) || 0));
    min?.forEach(see);
    max?.forEach(see);
  }
  return low <= high ? [low, high] : null;
}

// Most values that may lie beyond the axis, as a share; how many spreads from the middle half and from every level they must be;
// and how many of the newest values in view are always on it: the last may be the first of a new level.
const [RARE, FAR, NEWEST] = [0.02, 4, 5];

// Smallest and largest of what lines show without a few values far off; null when there are none, or little is won.
export function bulk(lines, zero) {
  const all = [];
  let [least, most] = [Infinity, -Infinity];
  const keep = (value) => { if (value < least) least = value; if (value > most) most = value; };
  for (const { levels, shape: { a, b, at, min, max } } of lines) {
    for (const { level } of levels || []) keep(level);
    const values = at ? Array.from({ length: b - a + 1 }, (_, i) => at(a + i)).filter(Number.isFinite) : [...min, ...max].filter(Number.isFinite);
    all.push(...values);
    (at ? values.slice(-NEWEST) : [...min.slice(-1), ...max.slice(-1)]).forEach(keep);
  }
  if (all.length < 4 * NEWEST) return null;
  const sorted = Float64Array.from(all).sort();
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
  const [low, high] = [at(0.25), at(0.75)];
  const reach = FAR * (high - low);
  const ends = [Math.min(low - reach, least), Math.max(high + reach, most)];
  const inner = sorted.filter((value) => value >= ends[0] && value <= ends[1]);
  const out = sorted.length - inner.length;
  if (!reach || !out || out > Math.max(1, sorted.length * RARE)) return null;
  const [from, to] = [Math.min(inner[0], least), Math.max(inner.at(-1), most)];
  const wide = (one, other) => (zero ? Math.max(0, other) - Math.min(0, one) : other - one);
  return wide(sorted[0], sorted.at(-1)) > 1.5 * wide(from, to) ? [from, to] : null;
}

// The axis that holds values from low to high, with some air.
export function room([low, high], { zero }) {
  const [from, to] = zero ? [Math.min(0, low), Math.max(0, high)] : [low, high];
  const air = (to - from) * 0.06 || Math.abs(to) * 0.01 || 1;
  return [zero && from === 0 ? 0 : from - air, zero && to === 0 ? 0 : to + air];
}

// About `count` round numbers between low and high.
export function ticks(low, high, count, { whole } = {}) {
  const out = [];
  const rough = (high - low) / Math.max(1, count);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(whole ? 1 : 0, ten * [1, 2, 5, 10].find((times) => times * ten >= rough));
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-12); i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}
