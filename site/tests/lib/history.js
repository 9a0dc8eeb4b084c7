// Small histories for the tests: what `wirebench history` keeps, written by hand.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folder } from './sites.js';

const hex = (number, digits) => (number + 1).toString(16).padStart(8, 'c').padEnd(digits, '0');
export const commit = (number) => hex(number, 40);

/** A run as a month keeps it; `more` overrides what a test is about. */
export function run(number, time, more = {}) {
  const at = new Date(time).toISOString();
  const id = `${at.replace(/[-:]|\.\d+/g, '')}-${hex(number, 6).slice(-6)}`;
  return {
    file: `${commit(number).slice(0, 12)}-${id}.json`, id, commit: commit(number), committed_at: at, started_at: at,
    host: 'aaaaaaaaaaaa', cpu_model: 'A processor', reference: null, ...more,
  };
}

/** A series whose server CPU has these values; null is none. */
export function series(id, values, more = {}) {
  return {
    id, digests: [{ from: 0, digest: 'd1d1d1d1d1d1' }],
    metrics: [{ metric: 'server_cpu', values }], ...more,
  };
}

/**
 * A history in a folder of its own: `runs` are run records of `run`, `series` those of `series`. All lie in one month's file, whatever
 * their times.
 */
export async function history({ runs, series: all, facts }) {
  const made = await folder();
  await mkdir(join(made, 'months'));
  const month = { schema: 'wirebench.history-month/v1', month: '2026-01', runs, series: all };
  await writeFile(join(made, 'months/2026-01.json'), JSON.stringify(month));
  if (facts) await writeFile(join(made, 'history.json'), JSON.stringify({ schema: 'wirebench.history/v1', ...facts }));
  return made;
}

const DAY = 86_400_000;

/** Runs two hours apart, the newest so many days before now. */
export const runsUntil = (count, days, more) => Array.from({ length: count }, (_, i) =>
  run(i, Date.now() - days * DAY - (count - i) * DAY / 12, more?.(i)));

/** Values around a level that vary by a few thousandths, the same in every run of the tests. */
export function steady(count, level = 20_000) {
  let state = 7;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.round(level * (1 + (state / 2_147_483_647 - 0.5) / 100));
  });
}
