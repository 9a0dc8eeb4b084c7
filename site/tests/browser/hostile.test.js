// Units, reasons and whatever else is free text is text on every page, and nothing else; hostile names are not even read.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { clean, drawn, start, visit } from '../lib/browser.js';
import { history, run, series, steady } from '../lib/history.js';
import { CORPUS, injected } from '../lib/hostile.js';
import { nightly } from '../lib/nightly.js';
import { settled } from '../lib/settled.js';
import { build, folder } from '../lib/sites.js';
import { files, madeUp } from '../lib/where.js';

const COUNT = 30;
const pick = (i) => CORPUS[i % CORPUS.length];

/** Summaries in which every free text is hostile; each series steps, breaks and fails. */
async function months() {
  const runs = Array.from({ length: COUNT }, (_, i) => run(i, Date.now() - (COUNT - i) * 3_600_000, {
    cpu_model: pick(i), host: i < 12 ? pick(3) : pick(4), reference: i < 20 ? pick(5) : pick(6),
    accepted: i === 24 ? [{ series: '*', at_most_percent: 50, reason: pick(0) }] : [],
  }));
  const all = CORPUS.map((text, i) => {
    const values = steady(COUNT).map((value, at) => (at < 22 || i % 2 ? value : value * 1.2));
    values[17] = null;
    return series(`hostile-${i}@server@driver`, values, {
      digests: [{ from: 0, digest: pick(i) }, { from: 6, digest: pick(i + 1) }],
      failures: [{ at: 17, why: text }, ...(i % 5 ? [] : [{ at: COUNT - 1, why: text }])],
      metrics: [
        { metric: 'server_cpu', values: i % 5 ? values : [...values.slice(0, -1), null] },
        { metric: 'throughput', values: steady(COUNT, 30_000) },
      ],
    });
  });
  const facts = {
    synthetic: CORPUS[0], repository: CORPUS[1],
    releases: CORPUS.map((name, i) => ({ commit: runs[(i * 3 + 1) % COUNT].commit, name })),
  };
  return history({ runs, series: all, facts });
}

/** A whole run of the demo with every free text made hostile. */
async function runs(into) {
  const demo = join(madeUp, 'runs/2026/11');
  const names = await files(demo, '.json');
  const target = join(into, 'runs/2026/11');
  await mkdir(target, { recursive: true });
  for (const [n, name] of names.entries()) {
    const record = JSON.parse(await readFile(join(demo, name), 'utf8'));
    let i = n;
    const hostile = () => pick(i++);
    Object.assign(record, { trigger: hostile(), repeat: hostile(), reason: hostile() });
    Object.assign(record.host, { cpu_model: hostile(), kernel: hostile(), image: hostile(), fingerprint: hostile() });
    for (const tool of record.tools) Object.assign(tool, { name: hostile(), version: hostile() });
    for (const variant of record.variants) variant.name = hostile();
    for (const stage of record.stages) stage.why = hostile();
    record.accepted.push({ series: '*', at_most_percent: 9, reason: hostile() });
    for (const one of record.series) {
      Object.assign(one, { reason: hostile(), digest: hostile() });
      one.command = [hostile(), hostile()];
      for (const round of one.rounds.slice(0, 3)) {
        Object.assign(round, { reason: hostile(), dropped: hostile(), errors: { [hostile()]: 3 } });
      }
      for (const counts of one.counts) {
        counts.remarks = [hostile()];
        counts.reason = hostile();
        counts.syscalls = { [hostile()]: 2 };
        for (const each of counts.functions) each.function = `${hostile()}${i}`;
        counts.figures[0].refused = hostile();
      }
    }
    await writeFile(join(target, name), JSON.stringify(record));
  }
}

/** What github-action-benchmark keeps, from a stranger. */
async function data() {
  const entries = {};
  for (const [s, suite] of CORPUS.entries()) {
    if (s % 4) continue;
    entries[suite] = Array.from({ length: 12 }, (_, i) => ({
      commit: {
        id: i % 2 ? pick(i) : String(i).repeat(40).slice(0, 40), message: pick(i), timestamp: i % 3 ? `2026-01-${10 + i}T00:00:00Z` : pick(i),
        url: `javascript:window.__xss=1`, author: { name: pick(i), email: pick(i), username: pick(i) },
      },
      date: Date.UTC(2026, 0, 10 + i), tool: i ? 'customSmallerIsBetter' : pick(i),
      benches: CORPUS.map((name, b) => ({ name, value: b % 6 ? 100 + i : pick(i), unit: pick(b + 1), range: pick(b), extra: pick(b) })),
    }));
  }
  const file = join(await folder(), 'hostile.js');
  const repoUrl = `javascript:window.__xss=1`;
  await writeFile(file, `window.BENCHMARK_DATA = ${JSON.stringify({ lastUpdate: 1, repoUrl, entries })};`);
  return file;
}

let browser;
before(async () => { browser = await start(); });

/** At most that many of the paths in each folder, evenly. */
function some(paths, most) {
  return [...new Set(paths.map(dirname))].flatMap((folder) => {
    const own = paths.filter((path) => dirname(path) === folder);
    return own.filter((_, i) => i % Math.ceil(own.length / most) === 0);
  });
}

/** Opens pages of a site as a visitor would: looks, points, opens what opens. By day at most `most` of a folder, at night all. */
async function walk(out, most) {
  const site = await visit(browser, out);
  const paths = await files(out, '.html');
  const kept = nightly ? some(paths, most) : paths;
  const page = await site.open('about.html');
  let said = '';
  for (const path of kept) {
    await page.go(path);
    said += await page.locator('body').textContent();
    if (path.startsWith('series/') && await page.locator('#chart').count()) {
      await drawn(page).catch((error) => { throw new Error(`${path}: ${error.message}`); });
      await page.locator('#chart [role=application]').focus();
      for (const key of ['End', 'Enter', 'Home', 'n', 'n']) await page.keyboard.press(key);
      await page.keyboard.press('/');
    }
    await page.evaluate(() => { for (const one of document.querySelectorAll('summary')) if (one.checkVisibility()) one.click(); });
    await settled(page);
    assert.deepEqual(await page.evaluate(injected), [], path);
    clean(page, path);
  }
  return { site, kept, said };
}

describe('hostile text', () => {
  test('in summaries: series, failures, machines, references, releases, acceptances', async () => {
    const { site, said } = await walk(await build(await months()), 6);
    const shown = CORPUS.filter((one) => said.includes(one));
    assert.ok(shown.length >= 4, `shown as text: ${shown}`);
    const page = await site.open('index.html?show=all');
    // Filters take it as text too.
    await page.getByRole('searchbox').fill(CORPUS[1]);
    assert.deepEqual(await page.evaluate(injected), []);
    clean(page);
  });

  test('in names is refused, whatever the command would make of it', async () => {
    const started = Date.UTC(2026, 0, 1);
    for (const text of CORPUS.filter((one) => /[^\w.@+-]/.test(one))) {
      await Promise.all([{ commit: text }, { id: text }, { file: text }, { started_at: text }].map(async (more) => {
        const made = await history({ runs: [run(0, started, more)], series: [series('a@b@c', [1])] });
        await assert.rejects(build(made), /is no /, JSON.stringify(more));
      }));
      const made = await history({ runs: [run(0, started)], series: [series(`${text}@b@c`, [1])] });
      await assert.rejects(build(made), /is no /, text);
    }
  });

  test('in the address', async () => {
    const site = await visit(browser, await build(await history({ runs: Array.from({ length: 8 }, (_, i) => run(i, Date.UTC(2026, 0, 1 + i))), series: [series('a@b@c', steady(8))] })));
    const page = await site.open('about.html');
    for (const [turn, text] of CORPUS.entries()) {
      const value = encodeURIComponent(text);
      const paths = [`series/a.b.c.html?metric=${value}&from=${value}&to=${value}&pin=${value}&with=${value},${value}`, `index.html?q=${value}&show=${value}`, `compare/index.html?a=${value}&b=${value}#${value}`];
      for (const path of paths.filter((_, i) => !nightly || i === turn % paths.length)) {
        await page.go(path);
        await settled(page);
        await page.waitForFunction(() => !document.querySelector('#choose') || document.querySelector('#choose > div:not(:empty)'));
        assert.deepEqual(await page.evaluate(injected), [], path);
        assert.deepEqual(page.faults.filter((fault) => !fault.includes('404')), [], path);
      }
    }
  });

  test('in whole runs and their comparisons', async () => {
    const made = await folder();
    await runs(made);
    const { kept } = await walk(await build(made), 4);
    assert.ok(kept.some((path) => /^run\/2/.test(path)) && kept.some((path) => /^compare\/2/.test(path)), String(kept));
  });

  test('in an imported history', async () => {
    const { site } = await walk(await build('--from', await data()), 5);
    const page = await site.open('index.html?show=all');
    const text = await page.locator('body').textContent();
    for (const one of CORPUS.slice(0, 8)) assert.ok(text.includes(one), `shown as text: ${one}`);
    clean(page);
  });
});
