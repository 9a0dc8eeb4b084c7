// Runs wirebench, and builds sites with it into folders that are removed at the end.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The repository's folder. */
export const root = resolve(import.meta.dirname, '../../..');
/** The program, built before the tests run. */
export const wirebench = process.env.WIREBENCH ?? join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/wirebench');
const run = promisify(execFile);

/** A new folder, removed after the tests of a file. */
export async function folder(after) {
  const made = await mkdtemp(join(tmpdir(), 'wirebench-site-'));
  after(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** Builds a site from the arguments of `wirebench site build`, and gives its folder. */
export async function build(after, ...args) {
  const out = join(await folder(after), '_site');
  await run(wirebench, ['site', 'build', ...args, '--out', out], { cwd: root, maxBuffer: 1e8 });
  return out;
}

const demos = new Map();

/** The demo's site; a test that changes files asks for a copy of its own. */
export async function demo(after, { copy = false } = {}) {
  if (!demos.has('demo')) demos.set('demo', build(after, join(root, 'results/demo')));
  const built = await demos.get('demo');
  if (!copy) return built;
  const own = await folder(after);
  await cp(built, own, { recursive: true });
  return own;
}
