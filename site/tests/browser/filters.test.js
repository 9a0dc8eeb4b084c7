// The overview's and the changes' filters: by text, by choice, by the switch; what is chosen is in the address.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { clean, start, visit } from '../lib/browser.js';
import { demo } from '../lib/sites.js';

let site;
before(async () => { site = await visit(await start(), await demo()); });

const rows = (page, table) => page.locator(`${table} tbody tr:visible`);
const states = (page) => rows(page, '#standings').evaluateAll((all) => [...new Set(all.map((row) => row.dataset.state))]);

test('the table of every metric is folded, whole, and shows only what changed on request', async () => {
  const page = await site.open('index.html');
  assert.equal(await rows(page, '#standings').count(), 0, 'folded at first');
  await page.locator('details.all > summary').first().click();
  const all = await rows(page, '#standings').count();
  await page.getByRole('button', { name: 'only changed' }).click();
  const changed = await states(page);
  assert.ok(changed.includes('worse') && changed.includes('better') && changed.includes('accepted'), String(changed));
  assert.ok(!changed.includes('noise'), String(changed));
  const few = await rows(page, '#standings').count();
  assert.ok(all > few + 20);
  await page.reload();
  assert.equal(await rows(page, '#standings').count(), few, 'the address opens the fold and filters');
  clean(page);
});

test('the first row is the worst', async () => {
  const page = await site.open('index.html');
  const order = await page.locator('#standings tbody tr').evaluateAll((all) => all.map((row) => row.dataset.state));
  assert.equal(order[0], 'worse');
  assert.equal(order.lastIndexOf('worse'), order.filter((state) => state === 'worse').length - 1);
});

test('a slash leads to the filter; words narrow the table; nothing left is said so', async () => {
  const page = await site.open('index.html');
  await page.keyboard.press('/');
  await page.keyboard.type('fixed-count http hey cpu');
  assert.equal(await rows(page, '#standings').count(), 1);
  assert.match(page.url(), /q=fixed-count\+http\+hey\+cpu/);
  await page.reload();
  assert.equal(await rows(page, '#standings').count(), 1);
  await page.keyboard.press('/');
  await page.keyboard.type(' no such series');
  assert.equal(await rows(page, '#standings').count(), 0);
  assert.ok(await page.getByText('No series fits the filter').isVisible());
  await page.getByRole('button', { name: 'Show all' }).click();
  assert.ok(await rows(page, '#standings').count() > 40);
  clean(page);
});

test('what changed stands on the overview by its cause, and leads to the series', async () => {
  const page = await site.open('index.html');
  const cards = page.locator('article.cause:visible');
  assert.ok(await cards.count() >= 3);
  const worse = page.locator('article.cause.worse').first();
  assert.match(await worse.locator('h3').innerText(), /▼ worse\s+http worse by [\d.]+ to [\d.]+ % \(\d+ metrics, \d+ series\)/);
  assert.equal(await page.locator('article.cause.broken').count(), 1, 'one crash is told once');
  await worse.locator('.courses a').first().click();
  assert.match(page.url(), /series\/.*metric=/);
});

test('changes are filtered by their status', async () => {
  const page = await site.open('changes.html');
  const cards = page.locator('article.cause:visible');
  const all = await cards.count();
  await page.getByRole('combobox', { name: 'Status' }).selectOption('accepted');
  const accepted = await cards.count();
  assert.ok(accepted > 0 && accepted < all);
  assert.match(await cards.first().innerText(), /deadline/);
  await page.reload();
  assert.equal(await cards.count(), accepted);
  clean(page);
});
