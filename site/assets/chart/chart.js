// The moving chart of a series: holds the view, loads what it needs, and tells its parts to draw.
import { el, idle, later } from '../lib/dom.js';
import { Broken, forget, load } from '../lib/load.js';
import { allPoints, column as decode } from '../lib/column.js';
import { look, palette } from '../lib/look.js';
import { nearestPlace, nearestSpot, lastUpTo } from '../lib/nearest.js';
import { clamp, same } from '../lib/range.js';
import { marks } from './marks.js';
import { Plot } from './plot.js';

/** Most lines at once. */
export const MOST_LINES = 60;

/** A line by the name of its column. */
export async function loadLine(name, page) {
  const data = await load(`columns/${name}`, 'wirebench.column/v1');
  forget(`columns/${name}`);
  const column = decode(data, `data/columns/${name}.json`);
  return { name, page, column, look: look(column.server) };
}

export class Chart {
  /** `line`: the page's own. `timeline`: its pushes. `changed(how)` is called after every change of the view. */
  constructor(line, timeline, view, changed) {
    this.lines = [line];
    this.timeline = timeline;
    this.releases = [];
    this.view = { raw: false, zero: false, log: false, byDate: false, all: false, ...view };
    this.view.range ??= this.whole;
    this.pin = null;
    this.cursor = null;
    this.dates = null;
    this.listeners = [changed];
    this.colours = palette();
  }

  get main() { return this.lines[0].column; }
  get places() { return this.main.places; }
  get whole() { return [0, Math.max(0, this.places - 1)]; }
  get percent() { return this.main.ratio && !this.view.raw; }
  get marks() { return this.found ??= marks(this.main, this.releases); }

  /** What plots draw. */
  source = (lines = this.lines, list = this.marks) => ({
    lines, marks: list, colours: this.colours, dates: this.view.byDate ? this.dates : null,
    dated: this.timeline.knows(...this.view.range), pushOf: (place) => this.timeline.push(place),
    view: { range: this.view.range, percent: lines[0].column.ratio && !this.view.raw, zero: this.view.zero, log: this.view.log },
  });

  /** Draws for the first time. */
  mount(host) {
    this.host = host;
    this.plot = new Plot(host, () => this.source(), { height: () => Math.round(Math.max(280, Math.min(560, innerHeight * 0.5))) });
    this.ring = el('div', { class: 'ring', hidden: true });
    this.held = el('div', { class: 'ring held', hidden: true });
    this.plot.frame.over.append(this.held, this.ring);
    this.plot.drawn = () => this.#place();
    const recolour = () => { this.colours = palette(); this.draw('colours'); };
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) matchMedia(query).addEventListener('change', recolour);
  }

  /** Draws again and tells the listeners: how is 'push' or 'replace' for the address, else what else changed. */
  draw(how) {
    this.plot.redraw();
    for (const listener of this.listeners) listener(how);
  }

  /** Changes the view. */
  set(patch, how = 'replace') {
    if (patch.range) patch.range = clamp(patch.range, this.places);
    Object.assign(this.view, patch);
    this.draw(how);
    this.#fetch();
  }

  setReleases(releases) {
    this.releases = releases;
    this.found = null;
    if (releases.length) this.draw('marks');
  }

  setLines(lines) {
    this.lines = [this.lines[0], ...lines];
    if (this.cursor && !this.lines.includes(this.cursor.line)) this.cursor = null;
    this.draw('lines');
    this.#fetch();
  }

  /** What the view needs beyond what is here: commits of its places, single values when there is room for them. */
  #fetch = later(async () => {
    const [a, b] = this.view.range;
    const wanted = [];
    if (b - a < 1000 && !this.timeline.knows(a, b)) wanted.push(this.timeline.need(a, b));
    else if (!this.timeline.knows(b, b)) wanted.push(this.timeline.need(b));
    if (b - a < 600 && this.lines.length <= 4) wanted.push(...this.lines.map((line) => this.points(line)));
    if (!(await this.gather(wanted))) return;
    this.draw('data');
  }, 60);

  /** Waits for files; a broken one is told of and the rest goes on. True when something new came. */
  async gather(wanted) {
    const results = await Promise.allSettled(wanted);
    for (const { reason } of results) if (reason) this.trouble?.(reason);
    return results.some((result) => result.status === 'fulfilled' && result.value !== false);
  }

  /** Loads every value of a line; false when they are here already. */
  async points(line) {
    const { column, name } = line;
    if (column.points) return false;
    const data = await load(`columns/${name}.points`, 'wirebench.points/v1');
    forget(`columns/${name}.points`);
    column.points = allPoints(data, `data/columns/${name}.points.json`);
    return true;
  }

  /** What is not urgent: commits of the newest places, and the single values behind the buckets. */
  async settle() {
    await idle();
    const news = await this.gather([this.timeline.need(this.view.range[1])]);
    await idle();
    const more = this.lines.length <= 4 && (await this.gather([this.points(this.lines[0])]));
    if (news || more) this.draw('data');
    this.#fetch();
  }

  /** What can be pointed at near `place`: of each line the value there, or its bucket; `{ line, place, value, x, y }`. */
  spots(place, only) {
    const found = [];
    for (const line of this.plot.scene.lines) {
      const { shape, column } = line;
      if (only && column !== only.column) continue;
      const [a, b] = this.view.range;
      if (shape.dots || (column.points && !this.plot.scene.crowd)) {
        const list = column.points[this.percent ? 'percent' : 'value'];
        const has = (at) => list[at - column.points.from] === list[at - column.points.from] && list[at - column.points.from] !== undefined;
        const at = nearestPlace(place, a, b, has);
        if (at !== null) found.push({ line, place: at, value: list[at - column.points.from] });
      } else {
        const i = lastUpTo(shape.from, Math.round(place));
        if (i >= 0 && shape.middle[i] === shape.middle[i]) {
          const end = (shape.from[i + 1] ?? shape.end + 1) - 1;
          found.push({ line, place: Math.round((shape.from[i] + end) / 2), value: shape.middle[i], bucket: { from: shape.from[i], end, min: shape.min[i], max: shape.max[i] } });
        }
      }
      for (const { at } of column.failures) if (Math.abs(at - place) <= Math.max(0.5, (b - a) / 150)) found.push({ line, place: at, value: null });
    }
    for (const spot of found) Object.assign(spot, this.#at(spot));
    return found;
  }

  #at({ place, value }) {
    return value === null ? { x: this.plot.spot(place, 1).x, y: this.plot.frame.over.clientHeight - 10 } : this.plot.spot(place, value);
  }

  /** What is nearest to a position in the plot, CSS px. */
  under(left, top) { return nearestSpot(this.spots(this.plot.placeAt(left)), left, top); }

  /** What is at a place of a line, exactly; a spot without a value when nothing is. */
  spotAt(line, place) {
    return this.spots(place, line).find((spot) => spot.place === place || spot.bucket) ?? { line, place, value: null, missing: true, ...this.#at({ place, value: null }) };
  }

  /** Points at a spot, or at nothing. */
  point(spot, how = 'hover') {
    this.cursor = spot;
    this.#place();
    for (const listener of this.listeners) listener(how);
    if (spot && !this.timeline.knows(spot.place, spot.place)) {
      this.gather([this.timeline.need(spot.place)]).then((news) => { if (news && this.cursor === spot) for (const listener of this.listeners) listener(how); });
    }
  }

  /** Holds a spot in the card, or lets go of it. */
  async hold(spot, how = 'push') {
    this.pin = spot;
    this.#place();
    if (spot) await this.gather([this.timeline.need(spot.place), this.points(this.lines.find((line) => line.column === spot.line.column))]);
    for (const listener of this.listeners) listener(how);
  }

  #place() {
    for (const [ring, spot] of [[this.ring, this.cursor], [this.held, this.pin]]) {
      const [a, b] = this.view.range;
      ring.hidden = !spot || spot.place < a || spot.place > b;
      if (ring.hidden) continue;
      const fresh = this.spotAt(spot.line, spot.place);
      Object.assign(spot, { x: fresh.x, y: fresh.y });
      ring.style.transform = `translate(${fresh.x}px, ${fresh.y}px)`;
    }
  }

  get isWhole() { return same(this.view.range, this.whole); }
}

export { Broken };
