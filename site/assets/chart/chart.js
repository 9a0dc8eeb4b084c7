// The moving chart of a series: holds the view, loads what it needs, and tells its parts of every change.
import { later } from '../lib/busy.js';
import { el } from '../lib/dom.js';
import { life, loadPoints, valueAt } from '../lib/data.js';
import { marks } from '../lib/text.js';
import { palette } from './draw.js';
import { Plot } from './plot.js';
import { clamp, lastUpTo, nearestPlace, nearestSpot, same } from './view.js';

// Most lines of which single values are loaded, and most places in view for which they are.
const [FEW_LINES, FEW_PLACES] = [4, 600];
const idle = () => new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done, { timeout: 1000 }));

export class Chart {
  // `line` is the page's own, `view` is `{ range, raw, zero }`.
  constructor(line, timeline, view) {
    Object.assign(this, { lines: [line], timeline, view, releases: [], listeners: [], held: null, cursor: null, colours: palette() });
    this.view.range ??= this.whole;
  }

  get main() { return this.lines[0].column; }
  get places() { return this.main.places; }
  get whole() { return this.lived ??= clamp(life(this.main), this.places); }
  get isWhole() { return same(this.view.range, this.whole); }
  get percent() { return this.main.isRatio && !this.view.raw; }
  get marks() { return this.found ??= marks(this.main, this.releases); }

  source() {
    const { colours, lines, marks, percent, timeline, view: { range, zero } } = this;
    return {
      lines, marks, colours, range, zero, percent,
      dated: timeline.knows(...range), pushOf: (place) => timeline.push(place),
    };
  }

  mount(host) {
    this.host = host;
    this.plot = new Plot(host, () => this.source(), () => Math.round(Math.max(280, Math.min(560, innerHeight / 2))));
    this.rings = ['held', 'cursor'].map((name) => [name, el('div', { class: `ring ${name}`, hidden: true })]);
    this.plot.frame.over.append(...this.rings.map(([, ring]) => ring));
    this.plot.drawn = () => this.#place();
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
      matchMedia(query).addEventListener('change', () => { this.colours = palette(); this.draw('colours'); });
    }
  }

  // Tells every part what happened: `push` and `replace` are for the address too; `hover` and `keys` change the cursor only.
  tell(what) { for (const listener of this.listeners) listener(what); }

  draw(what) {
    this.plot.redraw();
    this.tell(what);
  }

  set(patch, what = 'replace') {
    Object.assign(this.view, patch, { range: clamp(patch.range ?? this.view.range, this.places) });
    this.draw(what);
    this.#fetch();
  }

  setLines(lines, what) {
    this.lines = [this.lines[0], ...lines];
    if (!this.lines.some((line) => line.name === this.cursor?.line.name)) this.cursor = null;
    this.draw(what);
    this.#fetch();
  }

  // What the view needs beyond what is here: commits of its places, single values when there is room for them.
  #fetch = later(async () => {
    const [a, b] = this.view.range;
    const wanted = [this.timeline.need(b - a < 1000 ? a : b, b)];
    if (b - a < FEW_PLACES && this.lines.length <= FEW_LINES) wanted.push(...this.lines.map(loadPoints));
    if (await this.gather(wanted)) this.draw('data');
  }, 60);

  // Waits for files; a broken one is told of and the rest goes on. True when something new came.
  async gather(wanted) {
    const results = await Promise.allSettled(wanted);
    for (const { reason } of results) if (reason) this.trouble(reason);
    return results.some(({ value }) => value);
  }

  // What is not urgent: commits of the newest places, and the single values behind the stretches.
  async settle() {
    for (const get of [() => this.timeline.need(this.view.range[1]), () => loadPoints(this.lines[0])]) {
      await idle();
      if (await this.gather([get()])) this.draw('data');
    }
    this.#fetch();
  }

  // What can be pointed at near a place: of each line the value there or its stretch, `{ line, place, value, x, y }`.
  spots(near, only) {
    const found = [];
    const [a, b] = this.view.range;
    for (const line of this.plot.scene.lines) {
      const { shape, column, name } = line;
      if (only && name !== only.name) continue;
      const value = (place) => valueAt(column, place, this.percent);
      const i = shape.at ? -1 : lastUpTo(shape.from, Math.round(near));
      if (shape.at || (column.points && !this.plot.scene.crowd)) {
        const place = nearestPlace(near, a, b, (at) => Number.isFinite(value(at)));
        if (place !== null) found.push({ line, place, value: value(place) });
      } else if (i >= 0 && Number.isFinite(shape.middle[i])) {
        const [from, end] = [shape.from[i], (shape.from[i + 1] ?? shape.end + 1) - 1];
        found.push({ line, place: (from + end) >> 1, value: shape.middle[i], stretch: { from, end, min: shape.min[i], max: shape.max[i] } });
      }
      for (const at of column.failed.keys()) if (Math.abs(at - near) <= Math.max(0.5, (b - a) / 150)) found.push({ line, place: at, value: null });
    }
    for (const spot of found) Object.assign(spot, this.plot.spot(spot.place, spot.value));
    return found;
  }

  under(left, top) { return nearestSpot(this.spots(this.plot.placeAt(left)), left, top); }

  // What is at a place of a line, exactly; without a value when nothing is.
  spotAt(line, place) {
    return this.spots(place, line).find((spot) => spot.place === place || spot.stretch) ?? { line, place, value: null, ...this.plot.spot(place, null) };
  }

  async point(spot, what = 'hover') {
    this.cursor = spot;
    this.#place();
    this.tell(what);
    if (spot && (await this.gather([this.timeline.need(spot.place)])) && this.cursor === spot) this.tell(what);
  }

  // Only the first value that is held is a step of the history: Back leaves the cards, and never leads to one that was closed.
  async hold(spot, what = this.held || !spot ? 'replace' : 'push') {
    this.held = spot;
    this.#place();
    if (spot) await this.gather([this.timeline.need(Math.max(0, spot.place - 1), spot.place), loadPoints(spot.line)]);
    this.tell(what);
  }

  #place() {
    const [a, b] = this.view.range;
    for (const [name, ring] of this.rings) {
      const spot = this[name];
      ring.hidden = !spot || spot.place < a || spot.place > b;
      if (ring.hidden) continue;
      const { x, y } = this.spotAt(spot.line, spot.place);
      Object.assign(spot, { x, y });
      ring.style.transform = `translate(${x}px, ${y}px)`;
    }
  }
}
