// What of a column is drawn between two places: dots while they are few, else smallest, middle and largest of stretches.
import { bucketise, MOST_POINTS, valuesIn } from '../lib/column.js';
import { lastUpTo } from '../lib/nearest.js';

/**
 * `{ dots: true, a, b, at(place), half(place) }` or `{ dots: false, from, min, middle, max, end }`; null when the column
 * has no such values. `summary` asks for the buckets of the file, which cost nothing.
 */
export function shape(column, [a, b], asPercent, summary = false) {
  const { points, buckets } = column;
  const part = asPercent ? 'percent' : 'value';
  const whole = buckets && buckets[part];
  const list = points?.[part];
  if (!list && !whole) return null;
  if (list && !(summary && whole)) {
    if (valuesIn(points, a, b) <= MOST_POINTS) {
      const onBasis = asPercent === column.ratio;
      return {
        dots: true, a: Math.max(a, points.from), b: Math.min(b, points.from + list.length - 1),
        at: (place) => list[place - points.from],
        half: (place) => (onBasis ? (list[place - points.from] + (asPercent ? 100 : 0)) * points.half[place - points.from] : NaN),
      };
    }
    if (!whole || b - a + 1 < column.places / 2) return { dots: false, ...bucketise(list, points.from, a, b, column.breakAt), end: b };
  }
  const first = Math.max(0, lastUpTo(buckets.from, a));
  const past = lastUpTo(buckets.from, b) + 1;
  const cut = (numbers) => numbers.slice(first, past);
  return { dots: false, from: cut(buckets.from), min: cut(whole.min), middle: cut(whole.middle), max: cut(whole.max), end: (buckets.from[past] ?? column.places) - 1 };
}

/** Smallest and largest of what shapes show; null when they show nothing. */
export function extent(shapes) {
  let low = Infinity;
  let high = -Infinity;
  const see = (value) => { if (value < low) low = value; if (value > high) high = value; };
  for (const one of shapes) {
    if (one.dots) {
      for (let place = one.a; place <= one.b; place++) {
        const value = one.at(place);
        const half = one.half(place) || 0;
        see(value - half);
        see(value + half);
      }
    } else {
      one.min.forEach(see);
      one.max.forEach(see);
    }
  }
  return low <= high ? [low, high] : null;
}

/** The y axis that holds `found`, with some air; `zero` makes it start there. */
export function room(found, { zero, log }) {
  if (!found) return [0, 1];
  let [low, high] = found;
  if (log) {
    const air = Math.max((high / low) ** 0.06, 1.001);
    return [low / air, high * air];
  }
  if (zero) { low = Math.min(0, low); high = Math.max(0, high); }
  const air = (high - low) * 0.06 || Math.abs(high) * 0.01 || 1;
  return [zero && low === 0 ? 0 : low - air, zero && high === 0 ? 0 : high + air];
}

/** Round numbers between low and high, about `count` of them; by 1, 2, 5 in every ten on a wide log axis. */
export function ticks(low, high, count, { log = false, whole = false } = {}) {
  const out = [];
  if (log && high / low > 6) {
    const all = high / low < 10 ** (count / 2);
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
      for (const times of all ? [1, 2, 5] : [1]) if (power * times >= low && power * times <= high) out.push(power * times);
    }
    return out;
  }
  const rough = (high - low) / Math.max(1, count);
  const ten = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].find((times) => times * ten >= rough) * ten;
  if (whole) step = Math.max(1, step);
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** Starts of days, months or years, about `count`, s. */
export function dateTicks(low, high, count) {
  const days = (high - low) / 86400 / Math.max(1, count);
  const out = [];
  if (days <= 15) {
    const step = [1, 2, 3, 7, 14, 15].find((size) => size >= days) * 86400;
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) out.push(at);
    return out;
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120, 1200].find((size) => size * 30.4 >= days) ?? 12000;
  const start = new Date(low * 1000);
  for (let month = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months; ; month += months) {
    const at = Date.UTC(Math.floor(month / 12), month % 12) / 1000;
    if (at > high) return out;
    if (at >= low) out.push(at);
  }
}
