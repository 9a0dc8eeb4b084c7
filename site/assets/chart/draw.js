// Draws on a canvas: dots with whiskers or envelopes, levels, failed runs, and the marks through the plot.

const DASHES = [[[], '──'], [[7, 4], '╌╌'], [[2, 3], '┈┈'], [[9, 3, 2, 3], '─┈']];
const MARKERS = [['disc', '●'], ['square', '■'], ['diamond', '◆'], ['bar', '▮']];

// One colour a protocol, everywhere: a server's name says it, in the order in which the words are tried.
const PROTOCOLS = [['grpc-web', 3], ['grpc', 2], ['http', 1], ['h2c', 1]];

// `{ colour: 1…4, dash, marker, sign }`: the colour is the protocol's, else the server's for ever; dash and marker tell the lines of a chart apart; the sign is for legends.
export function look(server, nth = 0) {
  // FNV-1a.
  let hash = 2166136261;
  for (const letter of server) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
  const [dash, stroke] = DASHES[nth % 4];
  const [marker, glyph] = MARKERS[(nth + (nth >> 2)) % 4];
  return { colour: PROTOCOLS.find(([word]) => server.includes(word))?.[1] ?? 1 + ((hash ^ (hash >>> 15)) & 3), dash, marker, sign: glyph + stroke };
}

export function palette() {
  const style = getComputedStyle(document.documentElement);
  const forced = matchMedia('(forced-colors: active)').matches;
  const of = (name) => (!forced ? style.getPropertyValue(`--${name}`).trim() : { ground: 'Canvas', line: 'GrayText' }[name] ?? 'CanvasText');
  return Object.fromEntries(['ground', 'text', 'quiet', 'line', 'worse', 'better', 'noise', 'line-1', 'line-2', 'line-3', 'line-4'].map((name) => [name, of(name)]));
}

const OUTLINES = {
  disc: (path, x, y, r) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); },
  square: (path, x, y, r) => path.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
  bar: (path, x, y, r) => path.rect(x - r * 0.6, y - r * 1.3, r * 1.2, r * 2.6),
  diamond: (path, x, y, r) => {
    path.moveTo(x, y - r * 1.4);
    for (const [dx, dy] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) path.lineTo(x + dx * r * 1.4, y + dy * r * 1.4);
  },
};

// Stretches i…j in which a line may run: no missing value, no break.
function* runs(length, placeOf, has, breakAt) {
  let start = -1;
  for (let i = 0; i <= length; i++) {
    const here = i < length && has(i);
    if (start >= 0 && (!here || breakAt.has(placeOf(i)))) { yield [start, i - 1]; start = -1; }
    if (start < 0 && here) start = i;
  }
}

function stroke(ctx, path, width, alpha) {
  ctx.lineWidth = width;
  ctx.globalAlpha = alpha;
  ctx.stroke(path);
  ctx.globalAlpha = 1;
}

export function drawLine(ctx, scene, { column, look, shape, levels }) {
  const { X, Y, px, colours, crowd, small } = scene;
  ctx.strokeStyle = ctx.fillStyle = colours[`line-${look.colour}`];
  if (levels && !crowd) {
    const path = new Path2D();
    for (const { from, to, level } of levels) { path.moveTo(X(from - 0.5), Y(level)); path.lineTo(X(to + 0.5), Y(level)); }
    stroke(ctx, path, (small ? 2 : 4) * px, 0.35);
  }
  const dash = look.dash.map((length) => length * px);
  if (shape.at) drawDots(ctx, scene, column, look, shape, dash); else drawEnvelope(ctx, scene, column, shape, dash);
  ctx.setLineDash([]);
}

function drawEnvelope(ctx, { X, Y, px, crowd }, { breakAt }, { from, min, middle, max, end }, dash) {
  const [area, line] = [new Path2D(), new Path2D()];
  const left = (k) => X(from[k] - 0.5);
  const right = (k) => X((from[k + 1] ?? end + 1) - 0.5);
  for (const [i, j] of runs(from.length, (k) => from[k], (k) => middle[k] === middle[k], breakAt)) {
    if (!crowd) area.moveTo(left(i), Y(max[i]));
    line.moveTo(left(i), Y(middle[i]));
    for (let k = i; k <= j; k++) {
      const centre = (left(k) + right(k)) / 2;
      if (crowd) { area.moveTo(centre, Y(min[k])); area.lineTo(centre, Y(max[k])); }
      else { area.lineTo(left(k), Y(max[k])); area.lineTo(right(k), Y(max[k])); }
      line.lineTo(centre, Y(middle[k]));
    }
    line.lineTo(right(j), Y(middle[j]));
    if (!crowd) for (let k = j; k >= i; k--) { area.lineTo(right(k), Y(min[k])); area.lineTo(left(k), Y(min[k])); }
  }
  if (crowd) stroke(ctx, area, px, 0.15);
  else { ctx.globalAlpha = 0.22; ctx.fill(area); }
  ctx.setLineDash(dash);
  stroke(ctx, line, (crowd ? 1 : 1.5) * px, 1);
}

function drawDots(ctx, { X, Y, px, box, colours, crowd, small, hollow }, { few, breakAt }, look, { a, b, at, half }, dash) {
  const [line, whiskers, band, full, empty] = Array.from({ length: 5 }, () => new Path2D());
  const gap = box.width / (b - a + 1);
  // Whiskers so close that they would run into each other are one band.
  const merged = gap < 6 * px;
  const size = Math.max(1.6 * px, Math.min((small ? 2 : 3.6) * px, gap * 0.42));
  for (const [i, j] of runs(b - a + 1, (k) => a + k, (k) => at(a + k) === at(a + k), breakAt)) {
    const edge = [];
    for (let place = a + i; place <= a + j; place++) {
      const [x, y, reach] = [X(place), Y(at(place)), half(place)];
      if (place === a + i) line.moveTo(x, y); else line.lineTo(x, y);
      OUTLINES[look.marker](hollow(place) ? empty : full, x, y, size);
      if (small || crowd) continue;
      if (merged) {
        const by = reach > 0 ? reach : 0;
        edge.push([x, Y(at(place) + by), Y(at(place) - by)]);
        continue;
      }
      if (!(reach > 0)) continue;
      const [low, high] = [Y(at(place) - reach), Y(at(place) + reach)];
      whiskers.moveTo(x, low);
      whiskers.lineTo(x, high);
      if (gap > 7 * px) for (const end of [low, high]) { whiskers.moveTo(x - 3 * px, end); whiskers.lineTo(x + 3 * px, end); }
    }
    edge.forEach(([x, high], k) => (k ? band.lineTo(x, high) : band.moveTo(x, high)));
    edge.reverse().forEach(([x, , low]) => band.lineTo(x, low));
  }
  ctx.globalAlpha = 0.2;
  ctx.fill(band);
  ctx.globalAlpha = 1;
  ctx.setLineDash(dash);
  // Up to four values make no course: nothing joins them.
  if (!few) stroke(ctx, line, 1.5 * px, 0.6);
  ctx.setLineDash([]);
  stroke(ctx, whiskers, px, 0.6);
  ctx.fill(full);
  ctx.fillStyle = colours.ground;
  ctx.fill(empty);
  stroke(ctx, empty, 1.5 * px, 1);
}

// A hollow cross at the foot of the plot for every run without a value.
export function drawFailures(ctx, { X, box, px, colours }, failures) {
  const size = Math.max(9, Math.min(19, (1.6 * (X(1) - X(0))) / px));
  ctx.font = `bold ${size * px}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'alphabetic';
  ctx.strokeStyle = colours.text;
  ctx.lineWidth = px;
  for (const { at } of failures) ctx.strokeText('✕', X(at), box.top + box.height - 4 * px);
}

// An arrow at the edge, with its value, for what lies beyond the axis.
export function drawOutliers(ctx, { X, Y, px, colours }, { shape: { a, b, at, from, min, max }, look }, [low, high], name) {
  const seen = (place, value) => {
    if (!(value < low || value > high)) return;
    const up = value > high;
    ctx.fillText(`${up ? '▲' : '▼'} ${name(value)}`, X(place), Y(up ? high : low) + (up ? 8 : -8) * px);
  };
  ctx.font = `${11 * px}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = colours[`line-${look.colour}`];
  if (at) for (let place = a; place <= b; place++) seen(place, at(place));
  else from.forEach((place, k) => { seen(place, min[k]); seen(place, max[k]); });
}

// Rules through the plot, and their names in two rows above it. A name that would lie on another is left out.
export function drawMarks(ctx, { X, box, colours, px }, marks) {
  const narrow = box.width < 560 * px;
  const taken = [[], []];
  ctx.font = `${12 * px}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  const name = (text, x, lane) => {
    const { width } = ctx.measureText(text);
    const left = Math.max(0, Math.min(x - width / 2, box.left + box.width - width));
    if (taken[lane].some(([from, to]) => left < to + 6 * px && left + width > from - 6 * px)) return false;
    taken[lane].push([left, left + width]);
    ctx.fillText(text, left, box.top - (lane ? 10 : 27) * px);
    return true;
  };
  // Names of releases get what room the others leave.
  const order = [...marks].sort((one, other) => (one.kind === 'release') - (other.kind === 'release'));
  for (const { kind, at, step, colour, short, brief, shape } of order) {
    const x = Math.round(X(step ? (step.last_before + step.first_after) / 2 : kind === 'break' ? at - 0.5 : at)) + 0.5;
    if (kind === 'failure' || x < box.left - 1 || x > box.left + box.width + 1) continue;
    ctx.strokeStyle = ctx.fillStyle = colours[colour ?? (kind === 'break' ? 'text' : 'quiet')];
    if (step) {
      // Between these two places it happened.
      ctx.globalAlpha = 0.1;
      ctx.fillRect(X(step.last_before), box.top, X(step.first_after) - X(step.last_before), box.height);
      ctx.globalAlpha = 1;
    }
    const rule = new Path2D();
    rule.moveTo(x, box.top - (step ? 18 : 1) * px);
    rule.lineTo(x, box.top + box.height);
    ctx.setLineDash(kind === 'break' ? [6 * px, 4 * px] : step ? [px, 3 * px] : []);
    stroke(ctx, rule, px, kind === 'release' ? 0.6 : 1);
    ctx.setLineDash([]);
    if (!step) name(short.length > 30 || narrow ? `${short.slice(0, narrow ? 13 : 30)}${short.length > 13 ? '…' : ''}` : short, x, 1);
    else if (!name(narrow ? brief : short, x, 0)) name(shape, x, 0);
  }
}
