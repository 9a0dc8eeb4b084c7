// HTTP or gRPC? Every job's answer is on the first screen; pictures are said in words; no table is cut off.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { DESKTOP, PHONE, accessible, clean, narrow, start, visit } from '../../../site/tests/lib/browser.js';
import { build, folder } from '../../../site/tests/lib/sites.js';
import { root, wirebench } from '../../../site/tests/lib/where.js';

const PAGE = 'comparisons.html';

describe('the page of public comparisons', () => {
  let site;
  before(async () => {
    const page = join(await folder(), PAGE);
    const runs = ['A', 'B', 'C', 'D', 'E'].map((letter) => join(root, 'lab/results/comparisons', letter));
    const { status, stderr } = spawnSync(join(dirname(wirebench), 'lab'), ['--root', join(root, 'lab'), 'claims', ...runs, '--page', page], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    site = await visit(await start(), await build(join(root, 'results/history'), '--page', `HTTP or gRPC?=${page}`));
  });

  test('every shape of work is answered on the first screen, and every job below', async () => {
    const page = await site.open(PAGE, { size: DESKTOP });
    const lead = page.locator('.lead');
    const { y, height } = await lead.boundingBox();
    assert.ok(y + height <= DESKTOP.height / 2, `the answer ends at ${y + height} px`);
    assert.match(await lead.innerText(), /called directly × [\d.]+ to × [\d.]+, .*through a gateway × .*from a browser × [\d.]+/);
    const jobs = await page.locator('dl.jobs > div').count();
    assert.ok(jobs >= 20, `${jobs} jobs`);
    assert.equal(await page.locator('nav a[aria-current]').innerText(), 'HTTP or gRPC?');
    clean(page);
  });

  for (const [name, size, scheme] of [['a desktop', DESKTOP, 'light'], ['a phone', PHONE, 'dark']]) {
    test(`on ${name} all of it can be read`, async () => {
      const page = await site.open(PAGE, { size, scheme });
      await accessible(page);
      await page.evaluate(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; });
      await narrow(page);
      await accessible(page);
      const pictures = await page.locator('svg.beside-one').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
      assert.ok(pictures.length >= 4 && pictures.every((said) => said.includes('×')), `${pictures.length} pictures`);
      const cut = await page.locator('table').evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length);
      assert.equal(cut, 0, 'tables that reach out of the window');
      clean(page);
    });
  }

  test('without scripts it is the same', async () => {
    const page = await site.open(PAGE, { script: false });
    assert.ok((await page.locator('dl.jobs dd').allInnerTexts()).some((said) => said.includes('costs less.')));
    clean(page);
  });
});
