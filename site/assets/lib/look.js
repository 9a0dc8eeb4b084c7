// How a line looks: colour, dash and marker bound to its server's name for ever, so that no page and no day shows it otherwise.

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const MARKERS = ['disc', 'square', 'diamond', 'up', 'down'];

/** FNV-1a; its start is chosen so that this repository's four servers get four colours. */
function hash(name) {
  let value = 4219;
  for (const unit of name) value = Math.imul(value ^ unit.codePointAt(0), 16777619) >>> 0;
  return (value ^ (value >>> 15)) >>> 0;
}

/** `{ colour: 1…4, dash, marker }` of a server. */
export function look(server) {
  const value = hash(server);
  return { colour: 1 + (value & 3), dash: DASHES[(value >> 4) & 3], marker: MARKERS[(value >>> 8) % MARKERS.length] };
}

/** The page's colours as they are now: they follow the scheme. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const forced = matchMedia('(forced-colors: active)').matches;
  const of = (name, system) => (forced ? system : colour(name));
  return {
    ground: of('ground', 'Canvas'), text: of('text', 'CanvasText'), quiet: of('quiet', 'CanvasText'), line: of('line', 'GrayText'),
    worse: of('worse', 'CanvasText'), better: of('better', 'CanvasText'), noise: of('noise', 'CanvasText'),
    lines: [null, 1, 2, 3, 4].map((n) => n && of(`line-${n}`, 'CanvasText')),
  };
}
