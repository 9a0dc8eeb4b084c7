// Numbers, units, dates and links as people read them; the same roundings as in wirebench's reports.

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SCALES = {
  ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
  bytes: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [1, 'B']],
};

/** Divisor and name of the unit that fits a value of `size`. */
export function fit(unit, size) {
  const scales = SCALES[unit];
  return scales ? scales.find(([least]) => Math.abs(size) >= least) ?? scales.at(-1) : [1, unit];
}

/** `16,148`, `37.02`, `0.00123`: grouped when large, four digits otherwise. */
export function number(value, digits = 4) {
  const size = Math.abs(value);
  if (size >= 1e15 || (size < 1e-6 && size > 0)) return value.toExponential(2);
  if (size >= 10 ** (digits - 1)) return grouped.format(value);
  return String(Number(value.toPrecision(digits)));
}

/** `7.084 µs`, `8.1 MiB`, `44,870 req/s`. */
export function quantity(value, unit) {
  const [divisor, name] = fit(unit, value);
  return `${number(value / divisor)} ${name}`.trimEnd();
}

/** `+3.2 %`, `−0.41 %`, `0 %`. */
export function percent(value, signed = true) {
  const size = Math.abs(value);
  const text = size >= 99.95 ? grouped.format(size) : size >= 9.995 ? size.toFixed(1) : size.toFixed(2);
  const sign = Number(text.replaceAll(',', '')) === 0 ? '' : value < 0 ? '−' : signed ? '+' : '';
  return `${sign}${text} %`;
}

/** `2026-11-21`, and with `hours` `2026-11-21 17:24 UTC`. */
export function date(seconds, hours) {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return '';
  const text = at.toISOString();
  return hours ? `${text.slice(0, 10)} ${text.slice(11, 16)} UTC` : text.slice(0, 10);
}

/** `lower is better`; nothing when nobody knows. */
export const direction = (better) => (better === 'lower' || better === 'higher' ? `${better} is better` : '');

/** Marks of a change point: shape and word. */
export function verdict(step) {
  const way = step.direction;
  const word = step.accepted != null && way !== 'better' ? 'accepted' : way === 'unknown' ? 'changed' : way;
  return { shape: way === 'worse' ? '▼' : way === 'better' ? '▲' : '◇', word, colour: word === 'accepted' || way === 'unknown' ? 'noise' : way };
}

const isSha = (text) => /^[0-9a-f]{7,40}$/.test(text ?? '');
/** Where a repository lives on GitHub; null for what is no owner/name. */
export const github = (repository) => (/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(repository ?? '') ? `https://github.com/${repository}` : null);
/** The page of a commit there. */
export const commitLink = (repository, sha) => (github(repository) && isSha(sha) ? `${github(repository)}/commit/${sha}` : null);
/** What changed between two commits there. */
export const compareLink = (repository, a, b) => (github(repository) && isSha(a) && isSha(b) ? `${github(repository)}/compare/${a}...${b}` : null);
/** A run's id is a file name: letters, digits, dash, dot. */
export const isRun = (id) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,80}$/.test(id ?? '');
