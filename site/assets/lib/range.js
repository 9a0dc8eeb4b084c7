// Which places are visible: zoom, shift, chips. A range is [first, last], both shown, both whole numbers.

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
  const grow = (side) => around + (side - around) * factor;
  let next = clamp([Math.round(grow(a)), Math.round(grow(b))], places);
  // A narrow range must move by one place at least, or the key seems dead.
  if (factor > 1 && next[0] === a && next[1] === b) next = clamp([a - 1, b + 1], places);
  return next;
}

/** The range moved just so far that `place` is in it. */
export function reach([a, b], place, places) {
  const by = place < a ? place - a : place > b ? place - b : 0;
  return by ? clamp([a + by, b + by], places) : [a, b];
}

/** The newest `count` places. */
export const newest = (count, places) => clamp([places - count, places - 1], places);

export const same = (one, other) => one[0] === other[0] && one[1] === other[1];
