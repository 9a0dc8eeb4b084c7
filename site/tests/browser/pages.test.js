// Every page, in each scheme and at each width: nothing fails, nothing is asked of another host, the page never scrolls sideways, axe finds nothing.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { PHONE, accessible, clean, drawn, narrow, start, visit } from '../lib/browser.js';
import { nightly } from '../lib/nightly.js';
import { painted } from '../lib/settled.js';
import { build, demo, folder } from '../lib/sites.js';
import { files, root } from '../lib/where.js';

/** From the smallest phone to a desktop, and the two of them at which everything else is looked at too. */
const WIDTHS = [320, 390, 768, 1024, 1440];
const ENDS = [PHONE.width, 1440];
const SCHEMES = ['light', 'dark'];
/** With open folds a page shows everything that it shows with closed ones. */
const FOLDS = nightly ? ['open'] : ['closed', 'open'];

/** Pages of one kind come from one template. */
const kind = (path) => path.replace(/[^/]+\.html$/, (file) => (path.includes('/') && file !== 'index.html' ? '*' : file));

const pages = new Map();

/** Heads of tables that are out of sight on a phone and reach into the window all the same. */
const strayHeads = (page) => page.evaluate(() => [...document.querySelectorAll('thead')].filter((head) => {
  const { right, width } = head.getBoundingClientRect();
  return getComputedStyle(head).position === 'absolute' && width > 1 && right > 0;
}).map((head) => head.textContent.trim()));

/** Words in pictures that are too small to be read. */
const tinyWords = (page) => page.evaluate(() => [...document.querySelectorAll('svg text')]
  .filter((one) => one.getClientRects().length)
  .map((one) => [one.textContent, parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a])
  .filter(([, size]) => size < 9).map(([text, size]) => `${text}: ${size.toFixed(1)} pixels`));

const openAll = (page) => page.evaluate(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; });

async function look(site, path, scheme) {
  const key = `${site.origin} ${scheme}`;
  if (!pages.has(key)) pages.set(key, await site.open('about.html', { scheme }));
  const page = pages.get(key);
  await page.go(path);
  if (path.startsWith('series/')) await drawn(page);
  for (const folds of FOLDS) {
    if (folds === 'open') await openAll(page);
    for (const width of WIDTHS) {
      const about = `${path} (${scheme}, ${width} pixels, folds ${folds})`;
      await page.setViewportSize({ width, height: PHONE.height });
      await painted(page);
      await narrow(page, about);
      assert.deepEqual(await strayHeads(page), [], about);
      if (!ENDS.includes(width)) continue;
      assert.deepEqual(await tinyWords(page), [], about);
      await accessible(page, about);
    }
  }
  assert.ok((await page.title()).length > 10, `${path}: a title`);
  assert.equal(await page.locator('h1').count(), 1, `${path}: one heading`);
  clean(page, `${path} (${scheme})`);
}

/** Looks at every page of a site, at the first of a kind in both schemes, at others in one, by turns; by day at the first of each kind in one. */
function every(paths, site) {
  const seen = new Set();
  for (const [turn, path] of paths.entries()) {
    const known = seen.has(kind(path));
    const schemes = known || nightly ? [SCHEMES[turn % SCHEMES.length]] : SCHEMES;
    seen.add(kind(path));
    test(path, { skip: known && nightly }, async () => { for (const scheme of schemes) await look(await site(), path, scheme); });
  }
}

test('a page that asks another host is found out', async () => {
  const made = await folder();
  await writeFile(join(made, 'index.html'), '<!doctype html><img src="http://other.example/a.png"><img src="http://192.0.2.7/b.png">');
  const page = await (await visit(await start(), made)).open('index.html');
  for (const asked of ['http://other.example/a.png', 'http://192.0.2.7/b.png']) {
    assert.ok(page.faults.includes(`request off-site: ${asked}`), `${asked} is not among ${page.faults}`);
  }
});

describe('every page of the demo', async () => {
  const folder = await demo();
  const paths = await files(folder, '.html');
  let browser;
  let site;
  before(async () => {
    browser = await start();
    site = await visit(browser, folder);
  });

  test('there is one of every kind', () => {
    const kinds = new Set(paths.map(kind));
    for (const one of ['index.html', 'series/*', 'changes.html', 'health.html', 'about.html', 'compare/*', 'run/index.html', 'run/*', 'head-to-head.html']) {
      assert.ok(kinds.has(one), `no page is ${one}`);
    }
  });

  every(paths, () => site);

  test('every link within the site leads somewhere', async () => {
    const broken = [];
    const known = new Set();
    const page = await site.open('index.html', { script: false });
    for (const path of paths) {
      await page.go(path);
      const links = await page.evaluate(() => [...document.querySelectorAll('a[href], link[href], img[src], script[src]')].map((one) => one.href || one.src));
      for (const link of links.map((one) => one.split(/[?#]/)[0])) {
        if (!link.startsWith(site.origin) || known.has(link)) continue;
        known.add(link);
        const answer = await page.request.head(link);
        if (!answer.ok()) broken.push(`${path} → ${link.slice(site.origin.length)}`);
      }
    }
    assert.deepEqual(broken, []);
  });

  test('with forced colours and in print nothing is lost', async () => {
    const page = await site.open('index.html', { media: 'forced-colors' });
    await accessible(page);
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('#standings').isVisible());
    clean(page);
  });
});

describe('every page of an import', async () => {
  const folder = await build('--from', join(root, 'wirebench/cli/tests/fixtures/dirty.data.js'));
  let site;
  before(async () => { site = await visit(await start(), folder); });
  every(await files(folder, '.html'), () => site);
});
