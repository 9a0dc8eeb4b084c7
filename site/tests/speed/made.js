// A large history from a seeded model, as wirebench keeps it and as github-action-benchmark keeps it: the same values in both.
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { madeUp } from '../lib/where.js';

const RUNS_A_MONTH = 400;
/** The newest runs get a page each, so their files are whole; those of older ones are listed and never read. */
const WHOLE = 50;
const HOUR = 3_600_000;
const FIRST = Date.UTC(2024, 0, 1);

function chance(seed) {
  let state = seed;
  const share = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return { share, normal: () => Array.from({ length: 12 }, share).reduce((sum, one) => sum + one, -6) };
}

const seven = (value) => Number(value.toPrecision(7));
const server = (number) => `server-${number % 4}`;
export const name = (number) => `operation-${number}@${server(number)}@driver`;
const commit = (place) => `${(place * 2_654_435_761 % 4_294_967_296).toString(16).padStart(8, '0')}${place.toString(16).padStart(32, '0')}`;

function push(place) {
  // Months of equal length in runs: a run's month is that of its place, its hour within it.
  const month = Math.floor(place / RUNS_A_MONTH);
  const at = new Date(Date.UTC(2024, month, 1) + (place % RUNS_A_MONTH) * HOUR);
  const time = at.toISOString().replace('.000', '');
  const id = `${time.replace(/[-:]/g, '')}-${place.toString(16).padStart(6, '0')}`;
  return { place, at, time, id, month: time.slice(0, 7), commit: commit(place), file: `${commit(place).slice(0, 12)}-${id}.json` };
}

/** `{ pushes, series }`: for each series its ratios, values and half-widths, with noise of 1 % and now and then a step of 5 %. */
export function model(pushes, count) {
  const series = Array.from({ length: count }, (_, number) => {
    const { share, normal } = chance(number + 1);
    let level = 0;
    const ratios = Array.from({ length: pushes }, () => {
      if (share() < 0.001) level += share() < 0.5 ? 0.05 : -0.05;
      return seven(Math.exp(level + 0.01 * normal()));
    });
    return { id: name(number), ratios, values: ratios.map((ratio) => seven(ratio * (15_000 + 700 * number))), halves: ratios.map(() => Math.round(12 + 8 * share())) };
  });
  return { pushes: Array.from({ length: pushes }, (_, place) => push(place)), series };
}

const stored = (one) => ({
  file: one.file, id: one.id, commit: one.commit, committed_at: one.time, started_at: one.time,
  host: 'aae83024f209', cpu_model: 'AMD EPYC', reference: '146317b1de71f6af1a108ab616c579a85fb95d9c',
});

/** Writes the runs from one place up to another, in whole months. */
async function months(folder, { pushes, series }, to) {
  await mkdir(join(folder, 'months'), { recursive: true });
  for (let from = 0; from < to; from += RUNS_A_MONTH) {
    const own = pushes.slice(from, Math.min(to, from + RUNS_A_MONTH));
    const part = (list) => list.slice(from, from + own.length);
    const month = {
      schema: 'wirebench.history-month/v1', month: own[0].month, runs: own.map(stored),
      series: series.map(({ id, ratios, values, halves }) => ({
        id, digests: [{ from: 0, digest: '63e1409a569a' }],
        metrics: [{ metric: 'server_cpu', values: part(values), ratios: part(ratios), half_permille: part(halves) }],
      })),
    };
    await writeFile(join(folder, `months/${own[0].month}.json`), JSON.stringify(month));
  }
}

let template;

/** Writes a run's file: a run of the demo, with as many series as the history has. */
async function runFile(folder, one, series, whole) {
  const path = join(folder, 'runs', one.month.replace('-', '/'));
  await mkdir(path, { recursive: true });
  if (!whole) { await writeFile(join(path, one.file), ''); return; }
  if (!template) {
    const demo = join(madeUp, 'runs/2026/11');
    template = JSON.parse(await readFile(join(demo, (await readdir(demo)).sort().find((file) => file.includes('-20261103'))), 'utf8'));
    template.timed = template.series.find(({ rounds }) => rounds.length > 0);
  }
  const { timed, ...rest } = template;
  const variants = rest.variants.map((variant) => (variant.variant === 'candidate' ? { ...variant, commit: one.commit, committed_at: one.time } : variant));
  const parts = series.map(({ id }) => {
    const [scenario, by, driver] = id.split('@');
    return { ...timed, id, scenario, server: by, driver };
  });
  await writeFile(join(path, one.file), JSON.stringify({ ...rest, id: one.id, started_at: one.time, finished_at: one.time, variants, series: parts }));
}

/** Writes a history of all but the newest push; `more()` adds that one. */
export async function history(folder, made) {
  const { pushes, series } = made;
  const last = pushes.length - 1;
  for (const one of pushes.slice(0, last)) await runFile(folder, one, series, one.place >= last - WHOLE);
  await months(folder, made, last);
  return async () => {
    await runFile(folder, pushes[last], series, true);
    await months(folder, made, pushes.length);
  };
}

/** Writes data.js as github-action-benchmark does, pretty-printed; too long for one text. */
export async function dataJs(file, { pushes, series }) {
  const out = createWriteStream(file);
  const person = { email: 'someone@example.invalid', name: 'Some One', username: 'someone' };
  out.write(`window.BENCHMARK_DATA = {\n  "lastUpdate": ${FIRST},\n  "repoUrl": "https://github.com/example/example",\n  "entries": {\n    "Benchmark": [\n`);
  for (const { place, at, commit: id, time } of pushes) {
    const entry = {
      commit: { author: person, committer: person, distinct: true, id, message: `change number ${place}`, timestamp: time, tree_id: id, url: `https://github.com/example/example/commit/${id}` },
      date: at.getTime(), tool: 'customSmallerIsBetter',
      benches: series.map((one) => ({ name: one.id, value: one.values[place], range: `± ${one.halves[place]}`, unit: 'ns', extra: '6 rounds\nmedian' })),
    };
    const text = `${JSON.stringify(entry, null, 2)}${place + 1 < pushes.length ? ',' : ''}\n`;
    if (!out.write(text)) await once(out, 'drain');
  }
  out.end('    ]\n  }\n}');
  await once(out, 'close');
}
