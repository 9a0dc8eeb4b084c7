// The pushes of one timeline, loaded a thousand at a time when their commits are asked for.
import { Broken, load } from './load.js';

const A_FILE = 1000;
const NOTHING = {};

export class Timeline {
  constructor(id, places) {
    this.id = id;
    this.places = places;
    this.files = new Map();
  }

  /** What is known by now of a place: `{ commit, at, run, provisional }`. */
  push(place) {
    const file = this.files.get(Math.floor(place / A_FILE));
    const i = place - file?.from;
    if (!file || !(i in file.commits)) return NOTHING;
    return { commit: file.commits[i], at: file.at[i], run: file.runs[i], provisional: file.provisional.has(place) };
  }

  /** Whether places a to b are loaded. */
  knows(a, b) {
    for (let n = Math.floor(a / A_FILE); n <= Math.floor(b / A_FILE); n++) if (!this.files.has(n)) return false;
    return true;
  }

  /** Loads places a to b. */
  async need(a, b = a) {
    const wanted = [];
    for (let n = Math.floor(a / A_FILE); n <= Math.floor(b / A_FILE); n++) if (!this.files.has(n)) wanted.push(this.#file(n));
    await Promise.all(wanted);
  }

  async #file(n) {
    const name = `pushes/${this.id}.${n}`;
    const data = await load(name, 'wirebench.pushes/v1');
    const lists = [data.commits, data.at, data.runs, data.provisional];
    if (!lists.every(Array.isArray) || data.at.length !== data.commits.length || data.from !== n * A_FILE) throw new Broken(`data/${name}.json is broken: its lists do not fit.`);
    this.files.set(n, { ...data, provisional: new Set(data.provisional) });
  }

  get #last() { return Math.floor(Math.max(0, this.places - 1) / A_FILE); }

  /** The place of a commit, newest first; null when it is not here. */
  async find(sha) {
    const here = () => {
      for (const file of [...this.files.values()].sort((one, other) => other.from - one.from)) {
        const i = file.commits.findLastIndex((commit) => commit.startsWith(sha) || sha.startsWith(commit));
        if (i >= 0) return file.from + i;
      }
      return null;
    };
    if (here() === null) await this.need(this.#last * A_FILE);
    if (here() === null) await this.need(0, this.places - 1);
    return here();
  }

  /** The first place of the last `days` before the newest dated push. */
  async since(days) {
    let newest = null;
    let place = this.places - 1;
    for (let n = this.#last; n >= 0; n--) {
      await this.need(n * A_FILE);
      for (; place >= n * A_FILE; place--) {
        const { at } = this.push(place);
        newest ??= at;
        if (at != null && at < newest - days * 86400) return place + 1;
      }
    }
    return 0;
  }

  /** Of every place its position by date, s. Commits are kept in order: one that claims to be older than the one before it stands at that one's date. */
  async dates() {
    await this.need(0, this.places - 1);
    const out = new Float64Array(this.places);
    let latest = -Infinity;
    for (let place = 0; place < this.places; place++) out[place] = latest = Math.max(latest, this.push(place).at ?? -Infinity);
    const first = out.find((at) => at > -Infinity);
    return first === undefined ? null : out.map((at) => Math.max(at, first));
  }
}
