// How a line looks: colour, dash and marker bound to its server's name for ever, so that no page and no day shows it otherwise.

const DASHES = [[[], '──'], [[7, 4], '╌╌'], [[2, 3], '┈┈'], [[9, 3, 2, 3], '─┈']];
const MARKERS = [['disc', '●'], ['square', '■'], ['diamond', '◆'], ['bar', '▮']];

/** `{ colour: 1…4, dash, marker, sign }` of a server; the sign is for legends. */
export function look(server) {
  // FNV-1a; its start is chosen so that this repository's four servers differ in all three.
  let hash = 29942;
  for (const letter of server) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
  hash ^= hash >>> 15;
  const [dash, stroke] = DASHES[(hash >>> 4) & 3];
  const [marker, glyph] = MARKERS[(hash >>> 8) & 3];
  return { colour: 1 + (hash & 3), dash, marker, sign: glyph + stroke };
}

/** The page's colours as they are now: they follow the scheme. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const forced = matchMedia('(forced-colors: active)').matches;
  const of = (name) => (!forced ? style.getPropertyValue(`--${name}`).trim() : name === 'ground' ? 'Canvas' : 'CanvasText');
  return Object.fromEntries(['ground', 'text', 'quiet', 'line', 'worse', 'better', 'noise', 'line-1', 'line-2', 'line-3', 'line-4'].map((name) => [name, of(name)]));
}
