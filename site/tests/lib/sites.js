// Builds sites with wirebench, into folders that are removed after the tests of a file.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { later } from './later.js';
import { madeUp, root, wirebench } from './where.js';

const run = promisify(execFile);

/** A new folder, removed after the tests of a file. */
export async function folder() {
  const made = await mkdtemp(join(tmpdir(), 'wirebench-site-'));
  later(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** Builds a site from the arguments of `wirebench site build`, and gives its folder. */
export async function build(...args) {
  const out = join(await folder(), '_site');
  await run(wirebench, ['site', 'build', ...args, '--out', out], { cwd: root, maxBuffer: 1e8 });
  return out;
}

let built;

/** The demo's site; a test that changes files asks for a copy of its own. */
export async function demo({ copy = false } = {}) {
  built ??= build(madeUp);
  if (!copy) return built;
  const own = await folder();
  await cp(await built, own, { recursive: true });
  return own;
}
