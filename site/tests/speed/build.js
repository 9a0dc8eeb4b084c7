// How long `wirebench site build` takes, and how much memory: first, and for one more run.
import { execFile, spawn } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { files, wirebench } from '../lib/where.js';

/** Largest resident memory of the processes below one, MiB, while it runs. */
async function watch(pid, done) {
  let peak = 0;
  while (!done()) {
    for (const child of await below(pid)) {
      const status = await readFile(`/proc/${child}/status`, 'utf8').catch(() => '');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    }
    await new Promise((next) => setTimeout(next, 4));
  }
  return peak / 1024;
}

async function below(pid) {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list.split(' ').filter(Boolean);
}

/** Builds the site; gives wall and CPU seconds, and MiB. */
export async function timed(history, out, ...more) {
  const args = ['-c', 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null 2>&1', 'bash', wirebench, 'site', 'build', history, '--out', out, ...more];
  const child = spawn('bash', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  let ended = null;
  child.stderr.on('data', (part) => { said += part; });
  const end = new Promise((next) => child.on('close', (code) => { ended = code; next(); }));
  const peak = await watch(child.pid, () => ended !== null);
  await end;
  if (ended !== 0) throw new Error(`wirebench site build ended with ${ended}: ${await why(args.slice(4))}`);
  const [wall, user, system] = said.trim().split(/\s+/).slice(-3).map(Number);
  return { wall, cpu: user + system, peak };
}

const why = (args) => new Promise((next) => execFile(wirebench, args, (error, out, err) => next(err)));

/** Bytes of files, gzipped one by one. */
export async function gzipped(folder, names) {
  let sum = 0;
  for (const one of names) sum += gzipSync(await readFile(join(folder, one))).length;
  return sum;
}

/** What the site weighs, gzipped: its columns, all its scripts. */
export async function weights(out) {
  const columns = (await readdir(join(out, 'data/columns'))).map((one) => join('data/columns', one));
  const points = columns.filter((one) => one.endsWith('.points.json'));
  const scripts = (await files(join(out, 'assets'), '.js')).map((one) => join('assets', one));
  return { columns: await gzipped(out, columns), points: await gzipped(out, points), scripts: await gzipped(out, scripts) };
}
