// Prints how quick and how small the dashboard of a large history is, beside github-action-benchmark's own page on the same data.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { browserProgram, files } from '../lib/where.js';
import { gzipped, timed, weights } from './build.js';
import { dataJs, history, model, name } from './made.js';
import { allLines, first, yardstick, zoom } from './pages.js';
import { weigh } from './weigh.js';

const { values: asked } = parseArgs({ options: {
  pushes: { type: 'string', default: '10000' }, series: { type: 'string', default: '60' },
  yardstick: { type: 'string' }, turns: { type: 'string', default: '5' },
} });
const [pushes, series, turns] = [asked.pushes, asked.series, asked.turns].map(Number);
const YARDSTICK = 'https://github.com/benchmark-action/github-action-benchmark';
const RELEASE = 'v1.22.0';

const line = (what, found, limit, unit) => {
  const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
  const verdict = limit === undefined ? '' : `${found <= limit ? '✓' : '✗'} at most ${limit.toLocaleString('en')} ${unit}`;
  console.log(`${what.padEnd(58)} ${`${number(found)} ${unit}`.padStart(14)}   ${verdict}`);
};

/** The page of series `number`: servers are named in its file. */
const page = (number) => `series/${name(number).replaceAll('@', '.')}.html`;

async function site(folder, made) {
  const [data, out] = [join(folder, 'history'), join(folder, '_site')];
  const more = await history(data, made);
  console.log(`\n== wirebench site build, ${(pushes - 1).toLocaleString('en')} runs × ${series} series`);
  const whole = await timed(data, out);
  line('from nothing', whole.wall, 5, 's');
  line('  CPU time', whole.cpu, undefined, 's');
  line('  peak memory', whole.peak, 300, 'MiB');
  await more();
  const again = await timed(data, out);
  line('one more run', again.wall, 0.3, 's');
  line('  CPU time', again.cpu, undefined, 's');
  const weight = await weights(out);
  line('a point, gzipped: every value', weight.points / pushes / series, 20, 'bytes');
  line('  with the summary that is drawn first', weight.columns / pushes / series, undefined, 'bytes');
  line('all scripts, gzipped', weight.scripts / 1000, 45, 'kB');
  return out;
}

async function measured(browser, out) {
  const server = await weigh(out, await files(out, ''));
  console.log('\n== in headless Chromium, medians');
  const overview = await overviewOf(browser, server);
  line('overview: bytes of the first view, gzipped', overview.bytes / 1000, 60, 'kB');
  line('overview: ready', overview.at, undefined, 'ms');
  line('overview: longest task (0: none above 50 ms)', overview.longest, 50, 'ms');
  const one = await first(browser, server, page(0), turns);
  line('series: its course, drawn without a script', one.drawn, undefined, 'ms');
  line('series: first chart after navigation', one.at, 300, 'ms');
  line('series: longest task (0: none above 50 ms)', one.longest, 50, 'ms');
  line('series: bytes until the first chart, gzipped', one.firstBytes / 1000, 150, 'kB');
  line('series: bytes until nothing more is loaded', one.bytes / 1000, undefined, 'kB');
  line('series: heap', one.heapBefore, 20, 'MiB');
  line('series: heap after a collection', one.heapAfter, undefined, 'MiB');
  const zoomed = await zoom(browser, server, page(0));
  line('series: zoom, from event to frame', zoomed.frame, 30, 'ms');
  line('series: zoom, worst of 24', zoomed.worst, undefined, 'ms');
  line('series: zoom, script', zoomed.work, undefined, 'ms');
  const lines = await allLines(browser, server, page(0));
  line(`${series} lines on one chart, from the click`, lines.took, 500, 'ms');
  line('  longest task (0: none above 50 ms)', lines.longest, 50, 'ms');
  line('  heap after a collection', lines.heap.after, 20, 'MiB');
  const link = await first(browser, server, `${page(0)}?lines=all`, turns, 'lines-drawn');
  line(`${series} lines on one chart, after navigation`, link.at, undefined, 'ms');
  const many = await zoom(browser, server, `${page(0)}?lines=all`, 'lines-drawn');
  line(`${series} lines: zoom, from event to frame`, many.frame, undefined, 'ms');
  line('  longest task (0: none above 50 ms)', many.longest, 50, 'ms');
  await server.close();
  return one;
}

async function overviewOf(browser, server) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration); }).observe({ type: 'longtask', buffered: true });
  });
  const opened = await context.newPage();
  server.reset();
  await opened.goto(`${server.origin}/index.html`, { waitUntil: 'networkidle' });
  const found = await opened.evaluate(() => ({ at: performance.getEntriesByType('navigation')[0].loadEventEnd, longest: window.longest }));
  await context.close();
  return { ...found, bytes: server.bytes() };
}

/** github-action-benchmark's page, its data and the library it asks a network for, in a folder. */
async function other(folder, made) {
  await mkdir(folder);
  let checkout = asked.yardstick;
  if (!checkout) {
    checkout = join(folder, 'checkout');
    execFileSync('git', ['clone', '--quiet', '--depth', '1', '--branch', RELEASE, YARDSTICK, checkout], { stdio: 'ignore' });
  }
  const { DEFAULT_INDEX_HTML } = createRequire(import.meta.url)(resolve(checkout, 'dist/src/default_index_html.js'));
  await writeFile(join(folder, 'index.html'), DEFAULT_INDEX_HTML);
  await dataJs(join(folder, 'data.js'), made);
  const packed = execFileSync('npm', ['pack', '--silent', 'chart.js@2.9.2'], { cwd: folder, encoding: 'utf8' }).trim().split('\n').at(-1);
  execFileSync('tar', ['-xzf', packed], { cwd: folder });
  return join(folder, 'package/dist/Chart.min.js');
}

async function compared(browser, folder, made, own) {
  console.log(`\n== github-action-benchmark's own page (${RELEASE}, Chart.js 2.9.2) on the same data, in the same run`);
  let chartJs;
  try { chartJs = await other(folder, made); } catch (error) {
    console.log(`left out: ${error.message.split('\n')[0]}; give a checkout with --yardstick DIR`);
    return;
  }
  const server = await weigh(folder, ['index.html', 'data.js'], { chartJs });
  const { size } = await stat(join(folder, 'data.js'));
  line('data.js', size / 1e6, undefined, 'MB');
  line('  gzipped', await gzipped(folder, ['data.js']) / 1e6, undefined, 'MB');
  const found = await yardstick(browser, server);
  await server.close();
  line(`first of ${found.charts} charts shown`, found.at, undefined, 'ms');
  line('longest task', found.longest, undefined, 'ms');
  line('heap', found.heap.before, undefined, 'MiB');
  console.log(`\nThe series page shows its first chart × ${(found.at / own.at).toFixed(1)} as fast (wanted: × 25), with 1/${(found.heap.before / own.heapBefore).toFixed(0)} of the heap.`);
}

const folder = await mkdtemp(join(tmpdir(), 'wirebench-speed-'));
let browser;
try {
  const made = model(pushes, series);
  const out = await site(folder, made);
  browser = await chromium.launch({ executablePath: browserProgram(), args: ['--enable-precise-memory-info'] });
  const own = await measured(browser, out);
  await compared(browser, join(folder, 'other'), made, own);
} finally {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
}
