// How much there is to read: a cause is one card, a comparison fits one and a half screens, no table is cut off.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { before, describe, test } from 'node:test';
import { PHONE, clean, drawn, start, visit } from '../lib/browser.js';
import { nightly } from '../lib/nightly.js';
import { build, demo } from '../lib/sites.js';
import { files, root } from '../lib/where.js';
import { join } from 'node:path';

const SCREEN = { width: 1280, height: 800 };

const height = (page) => page.evaluate(() => document.documentElement.scrollHeight);
const openAll = (page) => page.evaluate(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; });

/** Tables that are wider than what shows them, or reach out of the window. */
const cut = (page) => page.evaluate(() => [...document.querySelectorAll('table')].filter((table) => {
  if (!table.offsetParent || table.closest('dialog')) return false;
  const box = table.closest('.scroll') ?? table;
  return box.scrollWidth > box.clientWidth + 1 || table.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
}).map((table) => `${table.className} ${table.id} ${table.textContent.trim().slice(0, 60)}`));

describe('the demo', async () => {
  const folder = await demo();
  const paths = await files(folder, '.html');
  let site;
  before(async () => { site = await visit(await start(), folder); });

  test('all scripts together are at most 45 kB gzipped', async () => {
    const scripts = await files(join(folder, 'assets'), '.js');
    const sizes = await Promise.all(scripts.map(async (name) => gzipSync(await readFile(join(folder, 'assets', name))).length));
    const whole = sizes.reduce((sum, size) => sum + size);
    console.log(`scripts: ${whole} bytes`);
    assert.ok(whole <= 45_000, `${whole} bytes`);
  });

  test('every change point is on a card, and there are at most 20 cards', async () => {
    const page = await site.open('changes.html', { size: SCREEN });
    const cards = await page.locator('article.cause').count();
    const points = await page.locator('article.cause tbody tr').count();
    assert.ok(cards >= 5 && cards <= 20, `${cards} cards`);
    assert.ok(points >= 60, `${points} change points`);
    console.log(`changes: ${cards} cards for ${points} change points, ${await height(page)} px`);
  });

  for (const path of paths.filter((name) => /^compare\/2/.test(name))) {
    test(`${path} is at most one and a half screens before folds, its picture no taller than one`, async () => {
      const page = await site.open(path, { size: SCREEN });
      const whole = await height(page);
      console.log(`${path}: ${whole} px`);
      // A flame graph is open and as wide as the page: half a screen more.
      const most = await page.locator('figure.flame').count() ? 2 : 1.5;
      assert.ok(whole <= most * SCREEN.height, `${whole} px`);
      assert.ok((await page.locator('svg.effects').boundingBox()).height <= SCREEN.height);
      assert.equal(await page.locator('tr.effect:visible').filter({ hasText: '= unchanged' }).count(), 0, 'what did not change is folded');
      clean(page);
    });
  }

  test('a run is at most 3,000 pixels on a phone before folds', async () => {
    for (const path of paths.filter((name) => /^run\/2/.test(name))) {
      const page = await site.open(path, { size: PHONE });
      const whole = await height(page);
      console.log(`${path}: ${whole} px`);
      assert.ok(whole <= 3000, `${path}: ${whole} px`);
      await page.context().close();
    }
  });

  for (const size of [SCREEN, PHONE]) {
    test(`no table is cut off at ${size.width}, folds open or closed`, { skip: size === SCREEN && nightly }, async () => {
      const found = [];
      const page = await site.open('about.html', { size });
      for (const path of paths) {
        await page.go(path);
        if (path.startsWith('series/')) await drawn(page);
        found.push(...(await cut(page)).map((table) => `${path}: ${table}`));
        await openAll(page);
        found.push(...(await cut(page)).map((table) => `${path}, opened: ${table}`));
      }
      assert.deepEqual(found, []);
    });
  }

  test('the flame graph of a difference is open, as wide as the page, with a callout on the function that changed most', async () => {
    const found = [];
    const page = await site.open('about.html', { size: SCREEN });
    for (const path of paths.filter((name) => /^compare\/2/.test(name))) {
      await page.go(path);
      if (!await page.locator('figure.flame').count()) continue;
      found.push(path);
      const graph = page.locator('figure.flame svg');
      await graph.waitFor();
      assert.match(await graph.locator('text.callout').textContent(), /^header_to_string \+[\d,.]+ instructions per request/);
      assert.equal(await graph.locator('rect.called title').textContent().then((title) => title.split(' ')[0]), 'http_server::trace::header_to_string');
      const [own, whole] = [await graph.boundingBox(), await page.locator('main').boundingBox()];
      assert.ok(own.width >= 0.9 * whole.width, `${own.width} of ${whole.width}`);
      assert.ok((await page.locator('figure.flame figcaption').innerText()).includes('header_to_string'), 'the caption says it without scripts');
      clean(page, path);
    }
    assert.equal(found.length, 1, 'the demo has one');
  });

  test('a link to a series of a run opens its rounds', async () => {
    const path = paths.filter((name) => /^run\/2/.test(name)).at(-1);
    const page = await site.open(path, { size: SCREEN });
    const link = page.locator('table.checks a').first();
    const place = page.locator(await link.getAttribute('href'));
    assert.ok(!await place.isVisible());
    await link.click();
    await place.waitFor({ state: 'visible' });
    clean(page);
  });

  test('at 200 % zoom and with reduced motion nothing is lost or moves', async () => {
    // A window of 1,280 pixels at 200 % has 640 of its own.
    const page = await site.open('about.html', { size: { width: 640, height: 400 }, reduced: 'reduce' });
    const kinds = new Set();
    for (const path of paths) {
      const kind = path.replace(/[^/]+\.html$/, (file) => (path.includes('/') && file !== 'index.html' ? '*' : file));
      if (kinds.has(kind)) continue;
      kinds.add(kind);
      await page.go(path);
      if (path.startsWith('series/')) await drawn(page);
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(content <= window, `${path}: ${content} wide in ${window}`);
      assert.deepEqual(await cut(page), [], path);
      assert.equal(await page.evaluate(() => document.getAnimations().length), 0, path);
      clean(page);
    }
  });

  test('in print and with forced colours cards, folds and pictures are there', async () => {
    const page = await site.open('index.html', { media: 'forced-colors', size: SCREEN });
    assert.ok(await page.locator('article.cause h3').first().isVisible());
    await page.emulateMedia({ media: 'print', forcedColors: 'none' });
    assert.ok(await page.locator('#standings tbody tr').first().isVisible(), 'a fold is open on paper');
    assert.ok(!await page.locator('.controls').first().isVisible());
    await page.go(paths.find((name) => /^compare\/2/.test(name)));
    assert.ok(await page.locator('svg.effects').isVisible());
    assert.ok(await page.locator('tr.effect').last().isVisible());
    clean(page);
  });
});

describe('an import', () => {
  test('has every commit linked, its newest value, no page that cannot apply, and no number of more than four digits that mean something', async () => {
    const out = await build('--from', join(root, 'site/tests/lib/imported.data.js'));
    const site = await visit(await start(), out);
    const page = await site.open('index.html');
    assert.match(await page.title(), /octo\/weather/, 'the repository names the site');
    const nav = await page.locator('header nav a').allInnerTexts();
    assert.deepEqual(nav, ['Overview', 'Changes', 'Health', 'About']);
    const links = await page.locator('table.standings tbody a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    assert.equal(links.length, 3);
    for (const href of links) {
      for (const script of [true, false]) {
        const one = await site.open(href, { script });
        if (script) await drawn(one);
        if (script) await one.waitForFunction(() => document.querySelector('#commits tbody a'));
        const rows = one.locator('#commits tbody tr');
        assert.equal(await rows.count(), 14);
        assert.equal(await rows.locator('td:first-child a[href^="https://github.com/octo/weather/commit/"]').count(), 14, `${href}, script ${script}`);
        assert.match(await rows.first().innerText(), /Change 13/, 'the newest commit stands first, with its message');
        const numbers = (await one.locator('main').innerText()).match(/(?<![\w.…-])[\d,]+\.?\d*(?![\w-])/g) ?? [];
        const long = numbers.filter((text) => text.replace(/[,.]/g, '').replace(/^0+|0+$/g, '').length > 4);
        assert.deepEqual(long, [], href);
        clean(one, href);
        await one.context().close();
      }
    }
    assert.match(await page.locator('table.standings').innerText(), /1\.235 s/, 'nanoseconds are scaled');
  });

  test('of nothing but zeros is built, with its chart', async () => {
    const out = await build('--from', join(root, 'site/tests/lib/imported.data.js'));
    const site = await visit(await start(), out);
    const page = await site.open('index.html');
    await page.locator('.standings a').first().click();
    await drawn(page);
    assert.equal(await page.locator('#chart .plot canvas').count(), 1);
    clean(page);
  });
});
