// Every page, in each scheme and size: nothing fails, nothing is asked of another host, nothing serious stands in the way of anyone.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DESKTOP, PHONE, accessible, clean, drawn, narrow, start, visit } from '../lib/browser.js';
import { demo } from '../lib/sites.js';
import { files } from '../lib/where.js';

const WAYS = [
  { scheme: 'light', size: DESKTOP }, { scheme: 'dark', size: PHONE },
  { scheme: 'dark', size: DESKTOP }, { scheme: 'light', size: PHONE },
];
const name = ({ scheme, size }) => `${scheme}, ${size.width} pixels`;

/** A page of each kind is looked at in every way; every other one in one, by turns, and not again for what its kind has in common. */
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

async function look(site, path, way, whole) {
  if (!pages.has(way)) pages.set(way, await site.open('about.html', way));
  const page = pages.get(way);
  await page.go(path);
  if (path.startsWith('series/')) await drawn(page);
  const about = `${path} (${name(way)})`;
  clean(page, about);
  await narrow(page, about);
  assert.deepEqual(await strayHeads(page), [], about);
  assert.deepEqual(await tinyWords(page), [], about);
  if (whole) await accessible(page, about);
  assert.ok((await page.title()).length > 10, `${about}: a title`);
  assert.equal(await page.locator('h1').count(), 1, `${about}: one heading`);
  clean(page, about);
}

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
    for (const one of ['index.html', 'series/*', 'changes.html', 'health.html', 'about.html', 'compare/index.html', 'compare/*', 'run/index.html', 'run/*', 'head-to-head.html']) {
      assert.ok(kinds.has(one), `no page is ${one}`);
    }
  });

  const seen = new Set();
  for (const [turn, path] of paths.entries()) {
    const first = !seen.has(kind(path));
    seen.add(kind(path));
    const ways = first ? WAYS : [WAYS[turn % WAYS.length]];
    test(path, async () => { for (const way of ways) await look(site, path, way, first); });
  }

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
