// Keeps the view in the page's address, as commits, and brings it back from there.
import { read, write } from '../lib/query.js';

export class Address {
  constructor(metric) {
    this.asked = read(location.search);
    this.metric = metric;
    this.turn = 0;
  }

  /** The range and pin that the address asks for, as places, and a sentence when a commit is not known. */
  async places(timeline, places) {
    const { from, to, pin } = this.asked;
    const missing = [];
    const at = async (sha, otherwise, end) => {
      if (!sha) return otherwise;
      const place = await timeline.find(sha);
      if (place === null) missing.push(`${sha} is not in this history: shown ${end}.`);
      return place ?? otherwise;
    };
    const [a, b, held] = [await at(from, 0, 'from its start'), await at(to, places - 1, 'up to its end'), await at(pin, null, 'without it')];
    return { range: from || to ? [Math.min(a, b), Math.max(a, b)] : null, pin: held, notice: missing.map((text) => `Commit ${text}`).join(' ') };
  }

  /** The query of a chart's view. */
  query(chart, metric = this.metric) {
    const { view, timeline, pin } = chart;
    const [a, b] = view.range;
    return write({
      ...view, metric,
      from: chart.isWhole ? null : timeline.push(a).commit,
      to: chart.isWhole ? null : timeline.push(b).commit,
      lines: chart.lines.slice(1).map((line) => line.page),
      pin: pin && timeline.push(pin.place).commit,
    });
  }

  /** Writes the view into the address: a step of the history, or in place of the last one. */
  async keep(chart, how) {
    const turn = ++this.turn;
    const { timeline, view, pin } = chart;
    if (how === 'push') history.pushState(null, '', location.href);
    // Dragging asks many times a second; browsers allow a hundred in half a minute.
    else await new Promise((done) => setTimeout(done, 120));
    const wanted = [...(chart.isWhole ? [] : view.range), ...(pin ? [pin.place] : [])];
    await Promise.all(wanted.map((place) => timeline.need(place))).catch(() => {});
    if (turn === this.turn) history.replaceState(null, '', location.pathname + this.query(chart));
  }
}
