// Draws lines on a canvas: dots with whiskers or envelopes, middles, levels, failed runs. Knows nothing of where they come from.

const OUTLINES = {
  disc: (path, x, y, r) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); },
  square: (path, x, y, r) => path.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
  diamond: (path, x, y, r) => polygon(path, [[x, y - r * 1.3], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y]]),
  up: (path, x, y, r) => polygon(path, [[x, y - r * 1.2], [x + r * 1.2, y + r], [x - r * 1.2, y + r]]),
  down: (path, x, y, r) => polygon(path, [[x, y + r * 1.2], [x + r * 1.2, y - r], [x - r * 1.2, y - r]]),
};

function polygon(path, corners) {
  corners.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
}

/** Stretches of numbers i…j of a shape in which a line may run: no missing value, no break. */
function runs(from, length, has, breakAt) {
  const out = [];
  let start = -1;
  for (let i = 0; i <= length; i++) {
    const ends = i === length || !has(i) || breakAt.has(from(i));
    if (start >= 0 && ends) { out.push([start, i - 1]); start = -1; }
    if (start < 0 && i < length && has(i)) start = i;
  }
  return out;
}

/** Draws `line` = `{ column, look, shape, main }`; `scene` = `{ X, Y, box, colours, px, crowd, small, hollow }`. */
export function drawLine(ctx, scene, line) {
  const { X, Y, px, colours, crowd, small } = scene;
  const colour = colours.lines[line.look.colour];
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineJoin = 'round';
  if (line.levels && !crowd) drawLevels(ctx, scene, line.levels, small ? 2 : 4);
  ctx.lineWidth = (crowd ? 1 : 1.5) * px;
  ctx.setLineDash(line.look.dash.map((length) => length * px));
  if (line.shape.dots) drawDots(ctx, scene, line, colour);
  else drawEnvelope(ctx, scene, line);
  ctx.setLineDash([]);
}

function drawLevels(ctx, { X, Y, px }, levels, width) {
  ctx.globalAlpha = 0.35;
  ctx.lineWidth = width * px;
  ctx.beginPath();
  for (const { from, to, level } of levels) {
    ctx.moveTo(X(from - 0.5), Y(level));
    ctx.lineTo(X(to + 0.5), Y(level));
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawEnvelope(ctx, { X, Y, crowd, small }, { column, shape }) {
  const dash = ctx.getLineDash();
  const { from, min, middle, max, end } = shape;
  const right = (i) => (i + 1 < from.length ? from[i + 1] : end + 1) - 0.5;
  const area = new Path2D();
  const path = new Path2D();
  for (const [i, j] of runs((k) => from[k], from.length, (k) => middle[k] === middle[k], column.breakAt)) {
    for (let k = i; k <= j; k++) {
      const left = X(from[k] - 0.5);
      const x = X(right(k));
      const y = Y(max[k]);
      if (crowd) { area.moveTo((left + x) / 2, Y(min[k])); area.lineTo((left + x) / 2, y); } else {
        if (k === i) area.moveTo(left, y); else area.lineTo(left, y);
        area.lineTo(x, y);
      }
      if (i === j) { path.moveTo(left, Y(middle[k])); path.lineTo(x, Y(middle[k])); }
      else if (k === i) path.moveTo((left + x) / 2, Y(middle[k]));
      else path.lineTo((left + x) / 2, Y(middle[k]));
    }
    if (crowd) continue;
    for (let k = j; k >= i; k--) {
      area.lineTo(X(right(k)), Y(min[k]));
      area.lineTo(X(from[k] - 0.5), Y(min[k]));
    }
    area.closePath();
  }
  ctx.globalAlpha = crowd ? 0.15 : small ? 0.25 : 0.22;
  if (crowd) { ctx.setLineDash([]); ctx.stroke(area); ctx.setLineDash(dash); } else ctx.fill(area);
  ctx.globalAlpha = 1;
  ctx.stroke(path);
}

function drawDots(ctx, { X, Y, px, colours, crowd, small, hollow, box }, { column, look, shape }, colour) {
  const { a, b, at, half } = shape;
  if (b < a) return;
  const has = (i) => at(a + i) === at(a + i);
  const line = new Path2D();
  for (const [i, j] of runs((k) => a + k, b - a + 1, has, column.breakAt)) {
    for (let k = i; k <= j; k++) if (k === i) line.moveTo(X(a + k), Y(at(a + k))); else line.lineTo(X(a + k), Y(at(a + k)));
  }
  // Up to four values say nothing of a course: no line joins them.
  if (!column.few) { ctx.globalAlpha = 0.6; ctx.stroke(line); ctx.globalAlpha = 1; }
  ctx.setLineDash([]);
  const gap = box.width / (b - a + 1);
  const size = Math.max(1.6 * px, Math.min((small ? 2 : 3.6) * px, gap * 0.42));
  const full = new Path2D();
  const empty = new Path2D();
  const whiskers = new Path2D();
  for (let place = a; place <= b; place++) {
    const value = at(place);
    if (value !== value) continue;
    const x = X(place);
    OUTLINES[look.marker](hollow(place) ? empty : full, x, Y(value), size);
    const reach = half(place);
    if (small || crowd || !(reach > 0)) continue;
    whiskers.moveTo(x, Y(value - reach));
    whiskers.lineTo(x, Y(value + reach));
    if (gap < 7 * px) continue;
    for (const end of [value - reach, value + reach]) { whiskers.moveTo(x - 3 * px, Y(end)); whiskers.lineTo(x + 3 * px, Y(end)); }
  }
  ctx.lineWidth = px;
  ctx.globalAlpha = 0.6;
  ctx.stroke(whiskers);
  ctx.globalAlpha = 1;
  ctx.fill(full);
  ctx.fillStyle = colours.ground;
  ctx.fill(empty);
  ctx.lineWidth = 1.5 * px;
  ctx.stroke(empty);
  ctx.fillStyle = colour;
}

/** A hollow cross at the foot of the plot for every run without a value. */
export function drawFailures(ctx, { X, box, px, colours }, failures) {
  const path = new Path2D();
  const y = box.top + box.height - 10 * px;
  const [r, t] = [7 * px, 2.6 * px];
  for (const { at } of failures) {
    const x = X(at);
    if (x < box.left - r || x > box.left + box.width + r) continue;
    polygon(path, [[0, -t], [r - t, -r], [r, t - r], [t, 0], [r, r - t], [r - t, r], [0, t], [t - r, r], [-r, r - t], [-t, 0], [-r, t - r], [t - r, -r]].map(([dx, dy]) => [x + dx, y + dy]));
  }
  ctx.fillStyle = colours.ground;
  ctx.fill(path);
  ctx.strokeStyle = colours.text;
  ctx.lineWidth = px;
  ctx.stroke(path);
}
