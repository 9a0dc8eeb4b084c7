// The series page by hand: keys, mouse, and addresses that show the same again.
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { DESKTOP, PHONE, clean, drawn, start, visit } from '../lib/browser.js';
import { settled } from '../lib/settled.js';
import { demo } from '../lib/sites.js';

// The series that got worse five pushes before the end, and was measured at every push.
const PATH = 'series/weather-fixed-count.http.hey.html';

let site;
let page;

before(async () => {
  site = await visit(await start(), await demo());
});

beforeEach(async () => {
  await page?.context().close();
  page = await site.open(PATH);
  await drawn(page);
  // Keys are listened to after the chart is drawn.
  await settled(page);
});

/** What the chart shows: the commits in its address, and the table below it. */
const view = async () => ({
  query: new URL(page.url()).search,
  rows: await page.locator('#commits tbody tr').allInnerTexts(),
  caption: await page.locator('#commits caption').innerText(),
});
const query = (part) => new URL(page.url()).searchParams.get(part);
const chart = () => page.locator('#chart .u-over').first();
const focus = () => page.locator('#chart [role=application]').focus();
const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
const said = () => page.locator('#chart .unseen[role=status]').innerText();

async function drag(from, to) {
  const box = await chart().boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * (from + to) / 2, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
}

/** The same address, opened anew, shows the same. */
async function reloads() {
  const before = await view();
  await page.reload();
  await drawn(page);
  await settled(page);
  assert.deepEqual(await view(), before);
  clean(page);
}

describe('addresses', () => {
  test('a dragged range is in the address as commits, and shown again', async () => {
    await drag(0.4, 0.7);
    assert.match(query('from'), /^[0-9a-f]{12}$/);
    assert.match(query('to'), /^[0-9a-f]{12}$/);
    await reloads();
  });

  test('chips, and back', async () => {
    await page.getByRole('button', { name: '30', exact: true }).click();
    await settled(page);
    const thirty = page.url();
    assert.match(await page.locator('#commits caption').innerText(), /20 in view/);
    await reloads();
    await page.getByRole('button', { name: '100', exact: true }).click();
    await settled(page);
    assert.notEqual(page.url(), thirty);
    await page.goBack();
    await settled(page);
    assert.equal(page.url(), thirty);
    assert.equal(await page.getByRole('button', { name: '30', exact: true }).getAttribute('aria-pressed'), 'true');
    await page.getByRole('button', { name: 'all', exact: true }).click();
    await settled(page);
    assert.equal(new URL(page.url()).search, '');
    clean(page);
  });

  test('a held value', async () => {
    await focus();
    await press('End', 'ArrowLeft', 'ArrowLeft', 'Enter');
    await settled(page);
    assert.match(query('pin'), /^[0-9a-f]{12}$/);
    const card = await page.locator('#chart .card').innerText();
    await reloads();
    assert.equal(await page.locator('#chart .card').innerText(), card);
  });

  test('another metric, values instead of ratios, an axis from zero', async () => {
    await page.goto(`${site.origin}/${PATH}?metric=throughput&y=value&zero=1`);
    await drawn(page);
    await settled(page);
    assert.match(await page.locator('#chart figcaption').innerText(), /throughput.*higher is better/);
    assert.match(await page.locator('#fact').innerText(), /throughput/, 'the headline is about the metric that is drawn');
    for (const name of ['from zero', 'measured']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed'), 'true', name);
    }
    await reloads();
  });

  test('a commit or a metric that is not here is said so, and the rest is shown', async () => {
    for (const [asked, words] of [
      ['from=0000000abcde', /Commit 0000000abcde is not in this history/],
      ['from=yesterday', /“from” in the address is no commit/],
      ['metric=nothing-of-the-kind', /no metric called “nothing-of-the-kind”/],
    ]) {
      await page.go(`${PATH}?${asked}`);
      await drawn(page);
      assert.match(await page.locator('#chart .note').innerText(), words);
      clean(page);
    }
  });
});

describe('the mouse', () => {
  test('after a zoom no value of before is shown beside the pointer', async () => {
    const box = await chart().boundingBox();
    await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
    await page.locator('#chart .tip').waitFor({ state: 'visible' });
    await drag(0.4, 0.7);
    assert.ok(!await page.locator('#chart .tip').isVisible());
    clean(page);
  });

  test('Back does not lead to a card that was closed', async () => {
    const before = page.url();
    await chart().click({ position: { x: 200, y: 100 } });
    await settled(page);
    await page.locator('#chart .card').waitFor({ state: 'visible' });
    await page.getByRole('button', { name: 'Close the card' }).click();
    await settled(page);
    assert.equal(page.url(), before);
    await page.goBack();
    await settled(page);
    assert.ok(!await page.locator('#chart .card').isVisible());
    assert.equal(query('pin'), null);
    clean(page);
  });
});

describe('keys alone', () => {
  test('the chart is one tab stop', async () => {
    await page.locator('h1').click();
    const stops = [];
    for (let i = 0; i < 60; i++) {
      await press('Tab');
      stops.push(await page.evaluate(() => document.activeElement?.closest('#chart .plot') !== null));
      if (stops.length > 1 && stops.at(-2) && !stops.at(-1)) break;
    }
    assert.equal(stops.filter(Boolean).length, 1);
  });

  test('arrows move by push and are read aloud, with Shift by ten', async () => {
    await focus();
    await press('End');
    await settled(page);
    const newest = await said();
    await press('ArrowLeft');
    await settled(page);
    const before = await said();
    assert.ok(newest.length > 20 && before !== newest, `${newest} / ${before}`);
    await press('ArrowRight');
    await settled(page);
    assert.equal(await said(), newest);
    await press('Home');
    await settled(page);
    const first = await said();
    await press('Shift+ArrowRight');
    await settled(page);
    const tenth = await said();
    await press(...Array(10).fill('ArrowLeft'));
    await settled(page);
    assert.equal(await said(), first);
    assert.notEqual(tenth, first);
  });

  test('+ − and 0 zoom', async () => {
    await focus();
    await press('End', '+', '+');
    await settled(page);
    assert.ok(query('from'));
    const near = page.url();
    await press('-');
    await settled(page);
    assert.notEqual(page.url(), near);
    await press('0');
    await settled(page);
    assert.equal(query('from'), null);
  });

  test('n and p go from mark to mark', async () => {
    await focus();
    await press('Home', 'n');
    await settled(page);
    const one = await said();
    await press('n');
    await settled(page);
    const two = await said();
    assert.notEqual(one, two);
    await press('p');
    await settled(page);
    assert.equal(await said(), one);
  });

  test('Enter holds a value, Escape lets go', async () => {
    await focus();
    await press('End', 'Enter');
    await settled(page);
    assert.ok(await page.locator('#chart .card').isVisible());
    await press('Escape');
    assert.ok(!await page.locator('#chart .card').isVisible());
    clean(page);
  });

  test('? opens the help and Escape closes it; / finds a line', async () => {
    await press('?');
    assert.ok(await page.locator('#chart-help').isVisible());
    await press('Escape');
    assert.ok(!await page.locator('#chart-help').isVisible());
    await press('/');
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
    clean(page);
  });

  test('↑ and ↓ go to another line', async () => {
    await press('/');
    await page.keyboard.type('http@h2load');
    await page.locator('#chart .choices input').first().check();
    await settled(page);
    await focus();
    await press('End');
    await settled(page);
    const one = await said();
    await press('ArrowDown');
    await settled(page);
    assert.notEqual(await said(), one);
    await reloads();
  });
});

describe('the wheel', () => {
  test('scrolls the page, and with Ctrl zooms the chart', async () => {
    const box = await chart().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.evaluate(() => { window.scrolled = new Promise((done) => { addEventListener('scrollend', () => done(), { once: true }); }); });
    await page.mouse.wheel(0, 300);
    await page.evaluate(() => window.scrolled);
    await settled(page);
    assert.ok(await page.evaluate(() => scrollY) > 100, 'the page scrolls');
    assert.equal(query('from'), null);
    const moved = await chart().boundingBox();
    await page.mouse.move(moved.x + moved.width / 2, Math.max(20, moved.y + moved.height / 2));
    const before = await page.evaluate(() => scrollY);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await page.waitForURL(/from=/);
    await settled(page);
    assert.equal(await page.evaluate(() => scrollY), before, 'the page stays');
    assert.ok(query('from'), 'the chart is zoomed');
  });
});

describe('the other metrics', () => {
  test('have their newest value and course, and lead to their own view', async () => {
    assert.equal(await page.locator('#metrics a svg.spark').count(), await page.locator('#metrics a').count());
    const link = page.locator('#metrics a[data-column]').first();
    const column = await link.getAttribute('data-column');
    await link.click();
    await drawn(page);
    assert.ok(column.endsWith(query('metric')));
    clean(page);
  });
});

describe('on a phone', () => {
  test('a value below the chart says what it is', async () => {
    await page.setViewportSize(PHONE);
    await page.reload();
    await drawn(page);
    await settled(page);
    const said = await page.locator('#commits tbody tr').first().locator('td[data-label]')
      .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content));
    assert.deepEqual(said, ['"value "', '"change "']);
    clean(page);
  });
});

describe('targets', () => {
  test('are large enough for a finger', async () => {
    await page.setViewportSize(DESKTOP);
    const small = await page.locator('#chart button:visible, #chart select:visible, #chart summary:visible').evaluateAll((all) => all
      .map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
      .filter(([, { width, height }]) => width < 24 || height < 24)
      .map(([text, { width, height }]) => `${text}: ${width} × ${height}`));
    assert.deepEqual(small, []);
  });
});
