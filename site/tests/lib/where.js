// Where things are: the repository, the program under test, the browser.
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The repository's folder. */
export const root = resolve(import.meta.dirname, '../../..');
/** A made-up history in which every state of the dashboard occurs. */
export const madeUp = join(root, 'site/tests/fixtures/made-up');
/** The program, built before the tests run. */
export const wirebench = process.env.WIREBENCH ?? join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/wirebench');

/**
 * The browser: `$CHROME`, or the first of the names that Debian and hosted runners give it. None is ever downloaded. The headless shell
 * is Chromium without its windows; with them a test takes three times the CPU time.
 */
export function browserProgram() {
  if (process.env.CHROME) return process.env.CHROME;
  const names = 'command -v chromium-headless-shell || command -v google-chrome || command -v chromium || command -v chrome';
  try { return execFileSync('sh', ['-c', names], { encoding: 'utf8' }).trim(); } catch {
    throw new Error('no Chromium: scripts/setup.sh --dev installs it, or CHROME names one');
  }
}

/** Paths of a folder's files with this ending, however deep, in order. */
export async function files(folder, ending) {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile() && one.name.endsWith(ending)).map((one) => join(one.parentPath ?? one.path, one.name).slice(folder.length + 1)).sort();
}
