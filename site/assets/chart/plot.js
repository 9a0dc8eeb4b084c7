// A plot: uPlot makes axes, scales and crosshair; what is in it is drawn by paint.js and marks.js.
import { date, fit, number } from '../lib/format.js';
import { lastUpTo } from '../lib/nearest.js';
import { drawFailures, drawLine } from './paint.js';
import { drawMarks } from './marks.js';
import { dateTicks, extent, room, shape, ticks } from './shape.js';

/** More lines than this are drawn thin, without areas and whiskers. */
const CROWD = 4;

export class Plot {
  /**
   * `source()` gives what to draw: `{ lines: [{ column, look }], view: { range, percent, zero, log }, dates, marks, colours,
   * pushOf(place) }`. `small` is a plot without names and crosshair.
   */
  constructor(host, source, { small = false, height }) {
    this.host = host;
    this.source = source;
    this.small = small;
    this.height = height;
    this.#arrange();
    const font = `${small ? 11 : 12}px system-ui, sans-serif`;
    const axis = { font, labelFont: font, stroke: () => this.scene.colours.quiet, ticks: { size: 4, stroke: () => this.scene.colours.line } };
    this.frame = new window.uPlot({
      width: this.#width(), height: height(),
      legend: { show: false },
      padding: [small ? 6 : 38, small ? 8 : 14, 0, 0],
      cursor: {
        show: !small, y: false, points: { show: false },
        drag: { x: false, y: false, setScale: false },
        bind: { mousedown: () => null, mouseup: () => null, dblclick: () => null },
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      scales: {
        x: { time: false, range: () => this.x },
        y: { distr: 100, fwd: (value) => (this.scene.view.log ? Math.log(value) : value), bwd: (value) => (this.scene.view.log ? Math.exp(value) : value), range: () => this.y },
      },
      axes: [
        { ...axis, size: small ? 24 : 28, grid: { show: false }, splits: () => this.#xSplits(), values: (_, splits) => splits.map((at) => this.#xName(at)) },
        {
          ...axis, size: small ? 52 : 58, grid: { width: 1, stroke: () => this.scene.colours.line },
          splits: () => ticks(...this.y.map((value) => value / this.unit[0]), this.frame.bbox.height / devicePixelRatio / (small ? 30 : 44), this.scene.view).map((value) => value * this.unit[0]),
          values: (_, splits) => splits.map((value) => number(value / this.unit[0], 6).replace('-', '−')),
          ...(small ? {} : { label: () => this.label, labelSize: 22, labelGap: 0 }),
        },
      ],
      hooks: { draw: [() => this.#paint()] },
    }, [[0, 1], [null, null]], host);
    if (!small) new ResizeObserver(() => this.resize()).observe(host);
  }

  #width() { return Math.max(160, this.host.clientWidth); }

  /** Takes over what the source now gives, and finds what of it is visible and how much room that needs. */
  #arrange() {
    const scene = this.scene = this.source();
    const { view, dates, lines } = scene;
    const [a, b] = view.range;
    scene.crowd = lines.length > CROWD;
    scene.lines = [];
    for (const line of lines) {
      const found = shape(line.column, view.range, view.percent, scene.crowd);
      const onBasis = view.percent === line.column.ratio;
      if (found) scene.lines.push({ ...line, shape: found, levels: onBasis && line.column.levels.filter(({ from, to }) => to >= a && from <= b) });
    }
    const found = extent(scene.lines.map((line) => line.shape));
    scene.view = { ...view, log: view.log && !view.percent && found?.[0] > 0 };
    this.y = room(found, scene.view);
    this.x = dates ? [dates[a] - (dates[b] - dates[a] || 86400) * 0.01, dates[b] + (dates[b] - dates[a] || 86400) * 0.01] : [a - 0.5, b + 0.5];
    const { unit, better } = lines[0].column;
    this.unit = view.percent ? [1, '%'] : fit(unit, Math.max(Math.abs(this.y[0]), Math.abs(this.y[1])));
    const name = view.percent ? `% against ${lines[0].column.reference ?? 'the reference'}` : this.unit[1];
    this.label = better ? `${name} (${better} is better)` : name;
  }

  /** Draws what the source now gives. */
  redraw() {
    this.#arrange();
    this.frame.redraw(true, true);
  }

  /** Fits the plot to its host. */
  resize() {
    const [width, height] = [this.#width(), this.height()];
    if (width !== this.frame.width || height !== this.frame.height) this.frame.setSize({ width, height });
  }

  #xSplits() {
    const count = this.frame.bbox.width / devicePixelRatio / (this.small ? 90 : 100);
    return this.scene.dates ? dateTicks(...this.x, count) : ticks(this.scene.view.range[0], this.scene.view.range[1], count, { whole: true });
  }

  #xName(at) {
    if (this.scene.dates) return date(at);
    const [a, b] = this.scene.view.range;
    const { commit, at: seconds } = this.scene.pushOf(at);
    if (!this.scene.dated) return `#${number(at + 1, 9)}`;
    return b - a < 30 && commit ? commit.slice(0, 7) : seconds == null ? `#${at + 1}` : date(seconds);
  }

  /** The position of a place on the x scale; halves lie between two. */
  at(place) {
    const { dates } = this.scene;
    if (!dates) return place;
    const low = Math.max(0, Math.min(dates.length - 1, Math.floor(place)));
    return dates[low] + (place - low) * ((dates[low + 1] ?? dates[low]) - dates[low]);
  }

  /** The place under a position in the plot, CSS px from its left; may be a fraction. */
  placeAt(left) {
    const value = this.frame.posToVal(left, 'x');
    const { dates } = this.scene;
    if (!dates) return value;
    const low = Math.max(0, lastUpTo(dates, value));
    const step = dates[low + 1] - dates[low];
    return low + (step > 0 ? Math.min(0.999, (value - dates[low]) / step) : 0);
  }

  /** Where a value stands in the plot, CSS px. */
  spot(place, value) {
    return { x: this.frame.valToPos(this.at(place), 'x'), y: this.frame.valToPos(value, 'y') };
  }

  #paint() {
    const { ctx, bbox: box } = this.frame;
    const { scene } = this;
    const px = devicePixelRatio;
    const log = scene.view.log ? Math.log : (value) => value;
    const [x0, kx] = [this.x[0], box.width / (this.x[1] - this.x[0])];
    const [y0, ky] = [log(this.y[0]), box.height / (log(this.y[1]) - log(this.y[0]))];
    Object.assign(scene, {
      box, px, small: this.small,
      X: scene.dates ? (place) => box.left + (this.at(place) - x0) * kx : (place) => box.left + (place - x0) * kx,
      Y: (value) => box.top + box.height - (log(value) - y0) * ky,
      hollow: (place) => scene.pushOf(place).provisional,
    });
    ctx.save();
    if (!this.small) drawMarks(ctx, scene, scene.marks);
    ctx.beginPath();
    ctx.rect(box.left, box.top - 4 * px, box.width, box.height + 8 * px);
    ctx.clip();
    if (scene.view.percent) {
      ctx.strokeStyle = scene.colours.quiet;
      ctx.lineWidth = px;
      ctx.beginPath();
      ctx.moveTo(box.left, scene.Y(0));
      ctx.lineTo(box.left + box.width, scene.Y(0));
      ctx.stroke();
    }
    for (let i = scene.lines.length - 1; i >= 0; i--) drawLine(ctx, scene, scene.lines[i]);
    if (!scene.crowd) drawFailures(ctx, scene, scene.lines.flatMap((line) => line.column.failures));
    ctx.restore();
    this.drawn?.();
  }
}
