// A plot: uPlot makes axes, scales and crosshair; draw.js draws what is in it.
import { date, fit, number } from '../lib/text.js';
import { drawFailures, drawLine, drawMarks, drawOutliers, look } from './draw.js';
import { bulk, extent, room, shape, ticks } from './view.js';

// More lines than this are drawn thin, without areas and whiskers.
const CROWD = 4;

export class Plot {
  // `source()` gives what to draw: see Chart.source.
  constructor(host, source, height) {
    Object.assign(this, { host, source, height });
    this.#arrange();
    const font = '12px system-ui, sans-serif';
    const line = () => this.scene.colours.line;
    const axis = { font, labelFont: font, stroke: () => this.scene.colours.quiet, ticks: { size: 4, stroke: line } };
    const none = () => null;
    this.frame = new window.uPlot({
      width: this.#width(), height: height(),
      legend: { show: false },
      padding: [38, 14, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, setScale: false }, bind: { mousedown: none, mouseup: none, dblclick: none } },
      series: [{}, { paths: none, points: { show: false } }],
      scales: {
        x: { time: false, range: () => this.x },
        y: { range: () => this.y },
      },
      axes: [
        { ...axis, size: 26, grid: { show: false }, splits: () => this.#xTicks(), values: (_, places) => places.map((at) => this.#xName(at)) },
        {
          ...axis, size: 56, grid: { width: 1, stroke: line }, splits: () => this.#yTicks(),
          values: (_, values) => values.map((value) => number(value / this.unit[0], 5)),
          label: () => this.label, labelSize: 22, labelGap: 0,
        },
      ],
      hooks: { draw: [() => this.#paint()] },
    }, [[0, 1], [null, null]], host);
    new ResizeObserver(() => this.resize()).observe(host);
  }

  #width() { return Math.max(160, this.host.clientWidth); }

  // Takes over what the source now gives; finds what of it is in view and how much room that needs.
  #arrange() {
    const scene = this.scene = this.source();
    const { range, percent, lines, zero } = scene;
    const [a, b] = range;
    scene.crowd = lines.length > CROWD;
    scene.lines = lines.map((line, i) => ({
      ...line, look: look(line.column.server, i), shape: shape(line.column, range, percent, scene.crowd),
      levels: percent === line.column.isRatio && line.column.levels.filter(({ from, to }) => to >= a && from <= b),
    })).filter((line) => line.shape);
    const found = extent(scene.lines.map((line) => line.shape));
    // A few values far off would press all others into a line: they get an arrow at the edge.
    const inner = found && !scene.crowd ? bulk(scene.lines, zero) : null;
    this.y = found ? room(inner ?? found, scene) : [0, 1];
    this.x = [a - 0.5, b + 0.5];
    const { unit, better } = lines[0].column;
    this.unit = percent ? [1, '%'] : fit(unit, Math.max(...this.y.map(Math.abs)));
    this.label = this.unit[1] + (better ? ` (${better} is better)` : '');
  }

  redraw() {
    this.#arrange();
    this.frame.redraw(true, true);
  }

  resize() {
    const [width, height] = [this.#width(), this.height()];
    if (width !== this.frame.width || height !== this.frame.height) this.frame.setSize({ width, height });
  }

  #yTicks() {
    const [low, high] = this.y.map((value) => value / this.unit[0]);
    return ticks(low, high, this.frame.bbox.height / devicePixelRatio / 44, this.scene).map((value) => value * this.unit[0]);
  }

  #xTicks() {
    const width = this.frame.bbox.width / devicePixelRatio;
    const [low, high] = this.x;
    const all = ticks(low + 1, high + 1, width / 95, { whole: true }).map((nth) => nth - 1);
    // A name needs room on its right too.
    return all.filter((at) => (high - at) / (high - low) * width > 20);
  }

  #xName(at) {
    const { dated, range: [a, b], pushOf } = this.scene;
    const { commit, at: seconds } = dated ? pushOf(at) : {};
    return (b - a < 30 && commit?.slice(0, 7)) || date(seconds) || `#${number(at + 1, 9)}`;
  }

  // The place under a position in the plot, CSS px from its left; a fraction between two.
  placeAt(left) { return this.frame.posToVal(left, 'x'); }

  // Where a value stands in the plot, CSS px: null at its foot, a value beyond the axis at its edge.
  spot(place, value) {
    const foot = this.frame.over.clientHeight;
    return { x: this.frame.valToPos(place, 'x'), y: value === null ? foot - 11 : Math.max(0, Math.min(foot, this.frame.valToPos(value, 'y'))) };
  }

  #paint() {
    const { ctx, bbox: box } = this.frame;
    const { scene, x: [x0, x1] } = this;
    const px = devicePixelRatio;
    const [y0, y1] = this.y;
    Object.assign(scene, {
      box, px, hollow: (place) => scene.pushOf(place).provisional,
      X: (place) => box.left + ((place - x0) / (x1 - x0)) * box.width,
      Y: (value) => box.top + (1 - (value - y0) / (y1 - y0)) * box.height,
    });
    ctx.save();
    drawMarks(ctx, scene, scene.marks);
    ctx.beginPath();
    ctx.rect(box.left, box.top - 4 * px, box.width, box.height + 8 * px);
    ctx.clip();
    if (scene.percent) {
      ctx.fillStyle = scene.colours.quiet;
      ctx.fillRect(box.left, scene.Y(0), box.width, px);
    }
    for (const line of [...scene.lines].reverse()) drawLine(ctx, scene, line);
    for (const line of scene.lines) drawOutliers(ctx, scene, line, this.y, (value) => number(value / this.unit[0], 3));
    if (!scene.crowd) drawFailures(ctx, scene, scene.lines.flatMap(({ column }) => column.failures));
    ctx.restore();
    this.drawn?.();
  }
}
