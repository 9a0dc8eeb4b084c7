// Which places are in view, and what is nearest. A range is [first, last], both in it, both whole numbers.

/** Fewest places that a zoom leaves. */
const FEWEST = 5;

/** The nearest range that lies in `places` and is not too narrow. */
export function clamp([a, b], places) {
  const width = Math.min(places, Math.max(FEWEST, Math.round(b) - Math.round(a) + 1));
  const first = Math.max(0, Math.min(places - width, Math.round(a)));
  return [first, Math.max(first, first + width - 1)];
}

/** A range `factor` times as wide, in which place `around` stays where it is. */
export function zoom([a, b], factor, around, places) {
  const next = clamp([a, b].map((side) => around + (side - around) * factor), places);
  // A narrow range must grow by something, or the key seems dead.
  return factor > 1 && same(next, [a, b]) ? clamp([a - 1, b + 1], places) : next;
}

/** The range moved just so far that `place` is in it. */
export function reach([a, b], place, places) {
  const by = place < a ? place - a : place > b ? place - b : 0;
  return clamp([a + by, b + by], places);
}

export const same = (one, other) => one[0] === other[0] && one[1] === other[1];

/** The number of the last entry of ascending `list` that is not above `place`; -1 when all are. */
export function lastUpTo(list, place) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= place) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** The place nearest to `place` between a and b for which `has` holds; null when there is none. */
export function nearestPlace(place, a, b, has) {
  const at = Math.max(a, Math.min(b, Math.round(place)));
  for (let off = 0; off <= b - a; off++) {
    for (const one of [at - off, at + off]) if (one >= a && one <= b && has(one)) return one;
  }
  return null;
}

/** The spot `{ x, y }` nearest to a position; null when there is none. */
export function nearestSpot(spots, x, y) {
  const far = (spot) => Math.hypot(spot.x - x, spot.y - y);
  return spots.reduce((best, spot) => (best && far(best) <= far(spot) ? best : spot), null);
}
