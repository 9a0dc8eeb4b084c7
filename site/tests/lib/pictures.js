// Compares what a page looks like with a committed picture; a few pixels may differ.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { root } from './where.js';

const COMMITTED = join(root, 'site/tests/pictures');
/** The share of pixels that may differ: edges of letters and lines are drawn a little differently by every version. */
const TOLERANCE = 0.005;
/** How far a pixel's colour may be off before it counts as another one, 0 to 1. */
const COLOUR = 0.15;

/** Holds what is in view against `pictures/<name>.png`; writes it when `WIREBENCH_WRITE_PICTURES` is set. */
export async function looksLike(page, name) {
  const file = join(COMMITTED, `${name}.png`);
  const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  if (process.env.WIREBENCH_WRITE_PICTURES) await writeFile(file, shot);
  const expected = PNG.sync.read(await readFile(file));
  const found = PNG.sync.read(shot);
  const { width, height } = expected;
  assert.deepEqual([found.width, found.height], [width, height], `${name}: size`);
  const difference = new PNG({ width, height });
  const differing = pixelmatch(expected.data, found.data, difference.data, width, height, { threshold: COLOUR });
  const share = differing / (width * height);
  if (share <= TOLERANCE) return;
  const folder = await mkdtemp(join(tmpdir(), 'wirebench-pictures-'));
  await writeFile(join(folder, `${name}.png`), shot);
  await writeFile(join(folder, `${name}-difference.png`), PNG.sync.write(difference));
  assert.fail(`${name}: ${(100 * share).toFixed(2)} % of the pixels differ, at most ${100 * TOLERANCE} % may; see ${folder}. If the new look is meant: WIREBENCH_WRITE_PICTURES=1 node --test site/tests/browser/pictures.test.js`);
}
