// Finds what is nearest to a place or to a position.

/** The number of the last entry of ascending `list` that is not above `place`; -1 when all are. */
export function lastUpTo(list, place) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= place) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** The place nearest to `place` between a and b for which `has` holds; null when there is none. */
export function nearestPlace(place, a, b, has) {
  place = Math.max(a, Math.min(b, Math.round(place)));
  for (let off = 0; off <= b - a; off++) {
    if (place - off >= a && has(place - off)) return place - off;
    if (place + off <= b && has(place + off)) return place + off;
  }
  return null;
}

/** The candidate `{ x, y }` nearest to a position, px. Beyond `reach` px there is none. */
export function nearestSpot(spots, x, y, reach = Infinity) {
  let best = null;
  let least = reach * reach;
  for (const spot of spots) {
    const distance = (spot.x - x) ** 2 + (spot.y - y) ** 2;
    if (distance <= least) { least = distance; best = spot; }
  }
  return best;
}
