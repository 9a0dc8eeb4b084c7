// Without scripts everything of importance is there: the fact, the sparkline, the tables.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { clean, narrow, PHONE, start, visit } from '../lib/browser.js';
import { demo } from '../lib/sites.js';

let site;
before(async () => { site = await visit(await start(), await demo()); });

test('the overview says what is worse, and lists every series', async () => {
  const page = await site.open('index.html', { script: false });
  assert.match(await page.locator('.lead').first().innerText(), /\d+ of \d+ metrics worse: \d+ open regressions?, \d+ of them from before v1\.4\.0\./);
  assert.match(await page.locator('h1').innerText(), /^http is [\d.]+ to [\d.]+ % slower since #170$/);
  const rows = await page.locator('#standings tbody tr').count();
  assert.ok(rows > 40, `${rows} rows`);
  assert.match(await page.locator('article.cause.worse:visible h3').first().innerText(), /▼ worse/);
  clean(page);
});

test('a series has its fact, its sparkline with the fact as text, and its tables', async () => {
  const page = await site.open('series/weather-fixed-count.http.hey.html', { script: false, size: PHONE });
  const spark = page.locator('#chart .spark');
  assert.match(await spark.getAttribute('aria-label'), /CPU/);
  assert.ok(await spark.locator('path').isVisible(), 'the sparkline is drawn');
  assert.match(await page.locator('#fact').innerText(), /worse/);
  assert.ok(await page.locator('#changes tbody tr').count() > 0);
  assert.equal(await page.locator('#commits tbody tr').count(), 20);
  await narrow(page);
  clean(page);
});

test('the other metrics of a series have their sparklines too', async () => {
  const page = await site.open('series/weather-fixed-count.http.hey.html', { script: false });
  const count = await page.locator('#metrics a[data-column]').count();
  const shown = await page.locator('#metrics .spark path:visible').count();
  assert.ok(count > 1 && shown === count, `${shown} sparklines of ${count} metrics`);
  clean(page);
});

test('a run shows its rounds, a comparison its effects, the changes their cards', async () => {
  const list = await site.open('run/index.html', { script: false });
  for (const link of ['.day a', 'a.verdict']) {
    const href = await list.locator(`main ${link}`).first().getAttribute('href');
    const page = await site.open(`run/${href}`, { script: false });
    assert.ok(await page.locator('main svg').count() > 0, href);
    assert.ok(await page.locator('main table').count() > 0, href);
    clean(page);
  }
  const changes = await site.open('changes.html', { script: false });
  assert.ok(await changes.locator('article.cause tbody tr').count() > 20);
});
