// The overview's and the changes' filters: by text, by choice, by the switch; what is chosen is in the address.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { clean, start, visit } from '../lib/browser.js';
import { demo } from '../lib/sites.js';

let site;
before(async () => { site = await visit(await start(), await demo()); });

const rows = (page, table) => page.locator(`${table} tbody tr:visible`);
const states = (page) => rows(page, '#standings').evaluateAll((all) => [...new Set(all.map((row) => row.dataset.state))]);

test('at first only what changed is shown, and on request everything', async () => {
  const page = await site.open('index.html');
  const changed = await states(page);
  assert.ok(changed.includes('worse') && changed.includes('better') && changed.includes('accepted'), String(changed));
  assert.ok(!changed.includes('noise'), String(changed));
  const few = await rows(page, '#standings').count();
  await page.getByRole('button', { name: 'only changed' }).click();
  const all = await rows(page, '#standings').count();
  assert.ok(all > few + 20);
  await page.reload();
  assert.equal(await rows(page, '#standings').count(), all);
  clean(page);
});

test('the first row is the worst', async () => {
  const page = await site.open('index.html');
  const order = await rows(page, '#standings').evaluateAll((all) => all.map((row) => row.dataset.state));
  assert.equal(order[0], 'worse');
  assert.equal(order.lastIndexOf('worse'), order.filter((state) => state === 'worse').length - 1);
});

test('a slash leads to the filter; words narrow the table; nothing left is said so', async () => {
  const page = await site.open('index.html');
  await page.keyboard.press('/');
  await page.keyboard.type('http hey cpu');
  assert.equal(await rows(page, '#standings').count(), 1);
  assert.match(page.url(), /q=http\+hey\+cpu/);
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

test('changes are filtered by their status', async () => {
  const page = await site.open('changes.html');
  const all = await rows(page, '#changes-table').count();
  await page.getByRole('combobox', { name: 'Status' }).selectOption('accepted');
  const accepted = await rows(page, '#changes-table').count();
  assert.ok(accepted > 0 && accepted < all);
  assert.match(await rows(page, '#changes-table').first().innerText(), /deadline/);
  await page.reload();
  assert.equal(await rows(page, '#changes-table').count(), accepted);
  clean(page);
});
