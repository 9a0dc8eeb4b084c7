// Every state has its own words: nothing yet, too few, stale, nothing new, not comparable, missing and broken files.
import assert from 'node:assert/strict';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { accessible, clean, drawn, narrow, start, visit } from '../lib/browser.js';
import { history, runsUntil, series, steady } from '../lib/history.js';
import { settled } from '../lib/settled.js';
import { build, demo } from '../lib/sites.js';
import { root } from '../lib/where.js';

let browser;
before(async () => { browser = await start(); });

const lead = (page) => page.locator('main .lead').first().innerText();
const ID = 'weather@http@hey';
const PATH = 'series/weather.http.hey.html';

/** A site of a made-up history, and its overview. */
async function of(parts) {
  const site = await visit(browser, await build(await history(parts)));
  return { site, page: await site.open('index.html') };
}

describe('the overview', () => {
  test('no data yet', async () => {
    const { site, page } = await of({ runs: [], series: [] });
    assert.match(await lead(page), /No data yet/);
    assert.match(await page.locator('main').innerText(), /wirebench history append/);
    await accessible(page);
    clean(page);
    for (const path of ['changes.html', 'health.html', 'about.html', 'run/index.html', 'head-to-head.html']) {
      const other = await site.open(path);
      await narrow(other);
      clean(other, path);
    }
  });

  for (const count of [1, 4]) {
    test(`${count} values: verdicts start at five`, async () => {
      const { site, page } = await of({ runs: runsUntil(count, 0), series: [series(ID, steady(count))] });
      assert.match(await lead(page), /verdicts start at 5 values/);
      assert.match(await lead(page), count === 1 ? /4 more runs until verdicts/ : /1 more run until verdicts/);
      assert.equal(await page.locator('#standings tbody tr:visible').count(), 1, 'every value is there');
      const chart = await site.open(PATH);
      await drawn(chart);
      assert.match(await chart.locator('main').innerText(), /start at (5|five) values/);
      clean(page);
      clean(chart);
    });
  }

  test('nothing beyond noise is said with what could have been seen', async () => {
    const { page } = await of({ runs: runsUntil(40, 0), series: [series(ID, steady(40))] });
    assert.match(await lead(page), /Nothing beyond noise.*smallest detectable change \d/);
    assert.ok(await page.locator('#standings tbody tr:visible').count() > 0, 'every value is there');
    assert.equal(await page.locator('article.cause').count(), 0);
    clean(page);
  });

  test('a newest run of last month is stale', async () => {
    const { page } = await of({ runs: runsUntil(20, 30), series: [series(ID, steady(20))] });
    assert.match(await page.locator('.warning').innerText(), /^Stale: the newest run is of \d{4}-\d\d-\d\d, (29|30|31) days/);
    const fresh = await of({ runs: runsUntil(20, 0), series: [series(ID, steady(20))] });
    assert.equal(await fresh.page.locator('.warning:visible').count(), 0);
    clean(page);
    // A site that nobody builds anew says so too.
    await fresh.page.clock.setFixedTime(Date.now() + 20 * 86_400_000);
    await fresh.page.reload();
    assert.match(await fresh.page.locator('.warning:visible').innerText(), /^Stale: the newest run is of \d{4}-\d\d-\d\d, (19|20) days ago/);
    clean(fresh.page);
  });

  test('a worsening is counted, and is the first row', async () => {
    const values = steady(40).map((value, i) => (i < 34 ? value : Math.round(value * 1.1)));
    const { site, page } = await of({ runs: runsUntil(40, 0), series: [series('calm@http@hey', steady(40)), series(ID, values)] });
    assert.match(await lead(page), /^1 of 2 metrics worse: 1 open regression\./);
    assert.match(await page.locator('h1').innerText(), /^http is [\d.]+ % slower since cccccc230000$/);
    const tally = await page.locator('.tally li').allInnerTexts();
    assert.deepEqual(tally.map((text) => text.split(/\s+/)[0]), ['1', '0', '1', '0'], 'the counts add up');
    assert.match(await page.locator('#standings tbody tr').first().textContent(), /▼ worse[^]*weather http hey/);
    clean(page);
    const own = await site.open(PATH, { script: false });
    assert.match(await own.locator('#fact').innerText(), /since cccccc230000 /, 'its page names the same commit');
  });

  test('values of two machines are not compared', async () => {
    const values = steady(40).map((value, i) => (i < 20 ? value : value * 2));
    const runs = runsUntil(40, 0, (i) => (i < 20 ? {} : { host: 'bbbbbbbbbbbb', cpu_model: 'Another one' }));
    const { site, page } = await of({ runs, series: [series(ID, values)] });
    assert.match(await lead(page), /Nothing beyond noise/);
    assert.match(await page.locator('#standings tbody').textContent(), /machine/);
    const chart = await site.open(PATH);
    await drawn(chart);
    assert.match(await chart.locator('#changes').innerText(), /Nothing is compared across these[^]*machine/);
    clean(chart);
  });

  test('a newest run without a good value withholds the verdict, with its reason', async () => {
    const failures = [{ at: 39, why: 'the server ended with signal 6' }];
    const { page } = await of({ runs: runsUntil(40, 0), series: [series(ID, [...steady(39), null], { failures })] });
    const row = page.locator('#standings tbody tr').first();
    assert.equal(await row.getAttribute('data-state'), 'withheld');
    assert.match(await row.textContent(), /the server ended with signal 6/);
    assert.match(await page.locator('article.broken').innerText(), /no good value[^]*the server ended with signal 6[^]*weather http hey/);
    clean(page);
  });

  test('a series that is no longer measured has stopped', async () => {
    const old = steady(60).map((value, i) => (i < 30 ? value : null));
    const { page } = await of({ runs: runsUntil(60, 0), series: [series('gone@http@hey', old), series(ID, steady(60))] });
    assert.equal(await page.locator('tr[data-series="gone@http@hey"]').getAttribute('data-state'), 'stopped');
    clean(page);
  });
});

describe('an imported history', () => {
  test('shows its series, and flags its broken values', async () => {
    const dirty = join(root, 'wirebench/cli/tests/fixtures/dirty.data.js');
    const site = await visit(browser, await build('--from', dirty));
    const page = await site.open('index.html');
    const rows = await page.locator('.standings tbody tr').allTextContents();
    for (const name of ['parse', 'serve p50', 'rate', 'score']) assert.ok(rows.some((row) => row.includes(name)), name);
    await accessible(page);
    clean(page);
    const links = await page.locator('.standings tbody a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    let flags = 0;
    for (const link of new Set(links)) {
      const one = await site.open(link);
      await drawn(one);
      flags += await one.locator('.warning:visible').count();
      await narrow(one);
      clean(one, link);
      await one.context().close();
    }
    assert.ok(flags > 0, 'the faults of the file are named');
  });
});

describe('files', () => {
  const COLUMN = 'data/columns/weather-fixed-count.http.hey.server-cpu.json';
  const SERIES = 'series/weather-fixed-count.http.hey.html';
  const note = async (page) => {
    await page.waitForFunction(() => document.querySelector('#chart .note')?.textContent.trim());
    return page.locator('#chart .note').innerText();
  };
  const stays = async (page) => {
    assert.ok(await page.locator('#chart .spark').isVisible(), 'the sparkline stays');
    assert.ok(await page.locator('#commits tbody tr').count() >= 20, 'the table stays');
    assert.ok(await page.getByRole('button', { name: 'Try again' }).isVisible());
  };
  /** Only the file in question is complained of. */
  const known = (page, name) => assert.deepEqual(page.faults.filter((fault) => !fault.includes(name)), []);

  test('a column that is missing; when it is back, trying again shows it', async () => {
    const out = await demo({ copy: true });
    const site = await visit(browser, out);
    await rename(join(out, COLUMN), join(out, 'away.json'));
    const page = await site.open(SERIES);
    assert.match(await note(page), /server-cpu\.json is missing/);
    await stays(page);
    await accessible(page);
    known(page, COLUMN);
    await rename(join(out, 'away.json'), join(out, COLUMN));
    await page.getByRole('button', { name: 'Try again' }).click();
    await drawn(page);
    assert.ok(!await page.locator('#chart .spark').isVisible());
  });

  const cases = {
    'cut off': [(text) => text.slice(0, text.length / 2), /server-cpu\.json is broken/],
    'of a newer wirebench': [(text) => text.replace('wirebench.column/v1', 'wirebench.column/v9'), /wirebench\.column\/v9/],
    'without a part': [(text) => text.replace('"breaks"', '"cracks"'), /server-cpu\.json is broken/],
    'with lists of different lengths': [(text) => text.replace(/("value":\{"scale":[^,]+,"deltas":\[)[^,]+,/, '$1'), /server-cpu\.json is broken/],
    'that is a page of something else': [() => '<!doctype html><title>404</title>', /server-cpu\.json is broken/],
  };
  for (const [what, [change, words]] of Object.entries(cases)) {
    test(`a column ${what}`, async () => {
      const out = await demo({ copy: true });
      const whole = await readFile(join(out, COLUMN), 'utf8');
      assert.notEqual(change(whole), whole);
      await writeFile(join(out, COLUMN), change(whole));
      const site = await visit(browser, out);
      const page = await site.open(SERIES);
      assert.match(await note(page), words);
      await stays(page);
      known(page, COLUMN);
    });
  }

  test('a manifest or a timeline that is missing costs what it holds and nothing else', async () => {
    for (const [name, words] of [['data/manifest.json', /manifest\.json is missing/], ['data/pushes/runs.0.json', /runs\.0\.json is missing/]]) {
      const out = await demo({ copy: true });
      await rm(join(out, name));
      const site = await visit(browser, out);
      const page = await site.open(SERIES);
      await drawn(page);
      assert.match(await note(page), words);
      known(page, name);
      await page.context().close();
    }
  });

  test('opened as a file the pages are whole, and say why nothing moves', async () => {
    const out = await demo();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`file://${join(out, SERIES)}`);
    assert.match(await page.locator('#fact').innerText(), /worse/);
    assert.ok(await page.locator('#chart .spark').isVisible());
    await page.waitForSelector('#chart .note');
    assert.match(await page.locator('#chart').innerText(), /site serve/);
  });
});

describe('a long history', () => {
  test('is drawn from stretches at first, and value by value when zoomed', async () => {
    const spike = steady(900).map((value, i) => (i === 431 ? value * 3 : value));
    const { site } = await of({ runs: runsUntil(900, 0), series: [series(ID, spike)] });
    const page = await site.open(PATH);
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    await drawn(page);
    assert.ok(asked.some((path) => path.endsWith('server-cpu.json')));
    await settled(page);
    await page.locator('#chart [role=application]').focus();
    for (const key of ['End', '+', '+', '+']) await page.keyboard.press(key);
    await settled(page);
    assert.ok(asked.some((path) => path.endsWith('server-cpu.points.json')));
    clean(page);
  });

  test('without its points it stays what it was, and says so', async () => {
    const { site } = await of({ runs: runsUntil(900, 0), series: [series(ID, steady(900))] });
    const page = await site.open(PATH);
    await drawn(page);
    await page.context().route('**/*.points.json', (route) => route.fulfill({ status: 404, body: '' }));
    await page.reload();
    await drawn(page);
    await page.waitForFunction(() => document.querySelector('#chart .note')?.textContent.includes('points.json'));
    assert.ok(await page.locator('#chart .uplot').first().isVisible());
  });
});
