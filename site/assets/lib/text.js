// Numbers, units, dates, verdicts and links as people read them; the same words as in wirebench's reports.
import { valueAt } from './data.js';

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SCALES = {
  ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
  bytes: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [1, 'B']],
};

// What other programs call times, in ns.
const TIMES = { us: 1e3, µs: 1e3, ms: 1e6 };

export function fit(unit, size) {
  // A unit may be any text, also the name of what every object has; of `ns/op` the time is scaled and the rest stays.
  const [what, ...rest] = unit.split('/');
  const times = Object.hasOwn(TIMES, what) ? TIMES[what] : 1;
  const scale = times > 1 ? SCALES.ns : Object.hasOwn(SCALES, what) ? SCALES[what] : [[1, what]];
  const [least, name] = scale.find(([least]) => Math.abs(size) * times >= least) ?? scale.at(-1);
  return [least / times, [name, ...rest].join('/')];
}

// `16,148`, `37.02`, `0.00123`: grouped when large, `digits` otherwise.
export function number(value, digits = 4) {
  const size = Math.abs(value);
  if (size >= 1e15 || (size < 1e-6 && size > 0)) return value.toExponential(2);
  return (size >= 10 ** (digits - 1) ? grouped.format(value) : String(Number(value.toPrecision(digits)))).replace('-', '−');
}

// `7.084 µs`, `8.1 MiB`, `44,870 req/s`.
export function quantity(value, unit) {
  const [divisor, name] = fit(unit, value);
  return `${number(value / divisor)} ${name}`.trimEnd();
}

// `+3.2 %`, `−0.41 %`, `0 %`.
export function percent(value, plus = '+') {
  const size = Math.abs(value);
  const text = size < 0.005 ? '0' : size >= 99.95 ? grouped.format(size) : size.toFixed(size >= 9.995 ? 1 : 2);
  return `${text === '0' ? '' : value < 0 ? '−' : plus}${text} %`;
}

// `2026-11-21`, or `2026-11-21 17:24 UTC`; nothing for no date.
export function date(seconds, hours) {
  const at = new Date(seconds * 1000);
  if (seconds == null || Number.isNaN(at.getTime())) return '';
  const text = at.toISOString();
  return hours ? `${text.slice(0, 10)} ${text.slice(11, 16)} UTC` : text.slice(0, 10);
}

export const short = (commit, place) => commit?.slice(0, 8) ?? `push ${place + 1}`;

// The marks of a column in order, `{ at, kind, short, text }`: releases, breaks, change points, failed runs.
export function marks(column, releases) {
  return [
    ...releases.map(({ at, name }) => ({ at, kind: 'release', short: name, text: `release ${name}` })),
    ...column.breaks.map(({ at, why }) => ({ at, kind: 'break', short: why, text: `not comparable with what came before: ${why}` })),
    ...column.steps.map((step) => {
      const way = step.direction;
      const meant = step.accepted != null && way !== 'better';
      const shape = { worse: '▼', better: '▲' }[way] ?? '◇';
      const word = meant ? 'accepted' : way === 'unknown' ? 'changed' : way;
      const size = percent(step.change_percent);
      return {
        at: step.first_after, kind: 'step', step, shape, colour: meant || way === 'unknown' ? 'noise' : way,
        brief: `${shape} ${size}`, short: `${shape} ${word} ${size}`,
        text: `${shape} ${word} ${size} (${percent(step.low_percent)} to ${percent(step.high_percent)})${step.accepted ? `, meant: ${step.accepted}` : ''}`,
      };
    }),
    ...column.failures.map(({ at, why }) => ({ at, kind: 'failure', text: `✕ no value: ${why}` })),
  ].sort((one, other) => one.at - other.at);
}

// What is known of a value: `{ value, other, interval, change, since, failure }`, texts or null; `since` is the place before it.
export function facts(column, place, asPercent) {
  const value = valueAt(column, place);
  if (!Number.isFinite(value)) return { value: null, failure: column.failed.get(place) };
  const ratio = valueAt(column, place, true);
  const [isRatio, half] = [Number.isFinite(ratio), column.points.half[place - column.points.from]];
  let since = place - 1;
  let broken = column.breakAt.has(place) ? place : null;
  for (; since >= column.points.from && !Number.isFinite(valueAt(column, since)); since--) if (column.breakAt.has(since)) broken ??= since;
  let change = null;
  if (since < column.points.from) since = null;
  else if (broken !== null) change = `not comparable with the one before: ${column.breaks.find(({ at }) => at === broken).why}`;
  else {
    const by = isRatio ? (100 + ratio) / (100 + valueAt(column, since, true)) : value / valueAt(column, since);
    if (Number.isFinite(by)) change = `${percent((by - 1) * 100)} against the one before`;
  }
  const texts = [quantity(value, column.unit), isRatio ? `${percent(ratio)} against ${column.reference ?? 'the reference'}` : null];
  if (asPercent && isRatio) texts.reverse();
  return { value: texts[0], other: texts[1], interval: half > 0 ? `± ${percent(half * 100, '')}` : null, change, since };
}

// Where a repository lives; null for what is no `owner/name`. Only what looks like a commit makes a link.
const github = (repository) => (/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.\.?$)[\w.-]{1,100}$/.test(repository ?? '') ? `https://github.com/${repository}` : null);
const isSha = (text) => /^[0-9a-f]{7,40}$/.test(text ?? '');
export const commitLink = (repository, sha) => (github(repository) && isSha(sha) ? `${github(repository)}/commit/${sha}` : null);
export const compareLink = (repository, a, b) => (github(repository) && isSha(a) && isSha(b) ? `${github(repository)}/compare/${a}...${b}` : null);
// Whether a text is a run's id, which is a file's name.
export const isRun = (id) => /^[A-Za-z0-9][\w.-]{0,80}$/.test(id ?? '');
