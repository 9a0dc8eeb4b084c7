// What is known of one value: itself, its interval, how it differs from the one before it.
import { percent, quantity } from './format.js';

/** A value as people read it, on the axis that is shown. */
export const say = (column, value, asPercent) => (asPercent ? percent(value) : quantity(value, column.unit));

/** The last place before `place` with a value, and the break between them, if any; null when there is none. */
export function before(column, place) {
  const { points } = column;
  let broken = null;
  for (let at = place; at > points.from; at--) {
    if (column.breakAt.has(at)) broken ??= at;
    const value = points.value[at - 1 - points.from];
    if (value === value && value !== undefined) return { place: at - 1, broken };
  }
  return null;
}

/** Facts of a place of a column with points: `{ value, other, interval, change, since, failure }`, texts or null. */
export function facts(column, place, asPercent) {
  const { points } = column;
  const i = place - points.from;
  const value = points.value[i];
  const failure = column.failures.find((entry) => entry.at === place)?.why ?? null;
  if (!(value === value && value !== undefined)) return { value: null, failure };
  const ratio = points.percent?.[i];
  const hasRatio = ratio === ratio && ratio !== undefined;
  const reference = column.reference ? ` against ${column.reference}` : '';
  const half = points.half[i];
  const last = before(column, place);
  let change = null;
  if (last?.broken != null) change = `not comparable with the one before: ${column.breaks.find((entry) => entry.at === last.broken).why}`;
  else if (last) {
    const j = last.place - points.from;
    const by = hasRatio ? (100 + ratio) / (100 + points.percent[j]) : value / points.value[j];
    change = Number.isFinite(by) ? `${percent((by - 1) * 100)} against the one before` : null;
  }
  const texts = [quantity(value, column.unit), hasRatio ? `${percent(ratio)}${reference}` : null];
  const [main, other] = asPercent && hasRatio ? texts.reverse() : texts;
  return { value: main, other, interval: half > 0 ? `± ${percent(half * 100, false)}` : null, change, since: last?.place ?? null, failure };
}
