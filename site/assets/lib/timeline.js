// The pushes of one timeline, loaded a thousand at a time when their commits are asked for.
import { load } from './load.js';

const A_FILE = 1000;
const fileOf = (place) => Math.floor(place / A_FILE);

function decode(data) {
  if (![data.at, data.runs].every((list) => list.length === data.commits.length)) throw new Error('its lists differ in length');
  return { ...data, provisional: new Set(data.provisional) };
}

export class Timeline {
  constructor(id, places) {
    Object.assign(this, { id, places, files: new Map() });
  }

  /** What is known by now of a place: `{ commit, at, run, provisional }`. */
  push(place) {
    const file = this.files.get(fileOf(place));
    const i = place - file?.from;
    return file ? { commit: file.commits[i], at: file.at[i], run: file.runs[i], provisional: file.provisional.has(place) } : {};
  }

  #missing(a, b) {
    const out = [];
    for (let n = fileOf(Math.max(0, a)); n <= fileOf(b); n++) if (!this.files.has(n)) out.push(n);
    return out;
  }

  /** Whether places a to b are loaded. */
  knows(a, b = a) { return !this.#missing(a, b).length; }

  /** Loads places a to b; false when they are here already. */
  async need(a, b = a) {
    const wanted = this.#missing(a, b);
    await Promise.all(wanted.map(async (n) => this.files.set(n, await load(`pushes/${this.id}.${n}`, 'wirebench.pushes/v1', decode))));
    return wanted.length > 0;
  }

  /** The newest place of a commit; null when it is not here. */
  async find(sha) {
    // The newest are asked for most: the others are loaded only when it is not among them.
    for (const from of [this.places - 1, 0]) {
      await this.need(from, this.places - 1);
      for (const n of [...this.files.keys()].sort((one, other) => other - one)) {
        const { from: first, commits } = this.files.get(n);
        const i = commits.findLastIndex((commit) => commit.startsWith(sha));
        if (i >= 0) return first + i;
      }
    }
    return null;
  }

  /** The first place of the `days` before the newest push. */
  async since(days) {
    let newest = null;
    for (let place = this.places - 1; place >= 0; place--) {
      if (!this.knows(place)) await this.need(place);
      const { at } = this.push(place);
      newest ??= at;
      if (at != null && at < newest - days * 86400) return place + 1;
    }
    return 0;
  }

  /**
   * Of every place its position by date, s; null when no push has one. Places keep their order: a commit that claims to be
   * older than the one before it stands at that one's date.
   */
  async dates() {
    await this.need(0, this.places - 1);
    let latest = -Infinity;
    const out = Float64Array.from({ length: this.places }, (_, place) => (latest = Math.max(latest, this.push(place).at ?? -Infinity)));
    const first = out.find(Number.isFinite);
    return first === undefined ? null : out.map((at) => Math.max(at, first));
  }
}
