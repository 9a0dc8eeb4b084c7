// How quickly pages of a site draw in headless Chromium, what they hold in memory and what they load.
import { settled } from '../lib/settled.js';
import { median } from './middle.js';

/** Notes every task of the main thread that is longer than 50 ms, from the start. */
function note() {
  window.longest = 0;
  window.blocked = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      window.longest = Math.max(window.longest, duration);
      window.blocked += duration - 50;
    }
  }).observe({ type: 'longtask', buffered: true });
}

/** After the next frame was shown. */
const shown = () => new Promise((done) => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => done(performance.now()); port2.postMessage(0); }));

async function fresh(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.addInitScript(note);
  const page = await context.newPage();
  page.setDefaultTimeout(300_000);
  return page;
}

async function heap(page) {
  const session = await page.context().newCDPSession(page);
  const used = () => page.evaluate(() => performance.memory.usedJSHeapSize / 2 ** 20);
  const before = await used();
  await session.send('HeapProfiler.collectGarbage');
  return { before, after: await used() };
}

/** A page from its address to its first chart, several times. */
export async function first(browser, server, path, turns, mark = 'chart-drawn') {
  const found = [];
  for (let turn = 0; turn < turns; turn++) {
    const page = await fresh(browser);
    server.reset();
    await page.goto(`${server.origin}/${path}`, { waitUntil: 'commit' });
    await page.waitForFunction((name) => performance.getEntriesByName(name).length > 0, mark, { polling: 20 });
    const at = await page.evaluate((name) => performance.getEntriesByName(name).at(-1).startTime, mark);
    const drawn = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint').at(-1)?.startTime);
    const firstBytes = server.bytes();
    await page.waitForLoadState('networkidle');
    await idle(page);
    found.push({ at, drawn, firstBytes, bytes: server.bytes(), ...await tasks(page), heap: await heap(page) });
    await page.context().close();
  }
  const middle = (of) => median(found.map(of));
  return {
    at: middle(({ at }) => at), drawn: middle(({ drawn }) => drawn), bytes: middle(({ bytes }) => bytes), firstBytes: middle(({ firstBytes }) => firstBytes),
    longest: Math.max(...found.map(({ longest }) => longest)), blocked: middle(({ blocked }) => blocked),
    heapBefore: middle((one) => one.heap.before), heapAfter: middle((one) => one.heap.after),
  };
}

/** Waits until scripts have no pending work and the browser none, so that every long task was noted. */
async function idle(page) {
  await settled(page);
  await page.evaluate(() => new Promise((done) => { requestIdleCallback(() => requestIdleCallback(() => done())); }));
}

const tasks = (page) => page.evaluate(() => ({ longest: window.longest, blocked: window.blocked }));

/** Zooming with Ctrl and the wheel, in and out: ms from the event to the frame that shows it. */
export async function zoom(browser, server, path, mark = 'chart-drawn') {
  const page = await fresh(browser);
  await page.goto(`${server.origin}/${path}`);
  await page.waitForFunction((name) => performance.getEntriesByName(name).length > 0, mark);
  await page.waitForLoadState('networkidle');
  await idle(page);
  await page.evaluate(() => { window.longest = 0; });
  const steps = await page.evaluate(`(async () => {
    const shown = ${shown};
    const found = [];
    for (let step = 0; step < 24; step++) {
      await new Promise((done) => setTimeout(done, 60)); // The pace of a hand at the wheel.
      const over = document.querySelector('#chart .u-over');
      const { left, top, width, height } = over.getBoundingClientRect();
      const from = performance.now();
      over.dispatchEvent(new WheelEvent('wheel', { deltaY: step % 12 < 6 ? -100 : 100, ctrlKey: true, clientX: left + width * 0.6, clientY: top + height / 2, bubbles: true, cancelable: true }));
      const work = performance.now() - from;
      found.push([work, await shown() - from]);
    }
    return found;
  })()`);
  const { longest } = await tasks(page);
  await page.context().close();
  const frames = steps.map(([, frame]) => frame);
  return { work: median(steps.map(([work]) => work)), frame: median(frames), worst: Math.max(...frames), longest };
}

/** From a click on "all of this metric" to all lines. */
export async function allLines(browser, server, path) {
  const page = await fresh(browser);
  await page.goto(`${server.origin}/${path}`);
  await page.waitForFunction(() => performance.getEntriesByName('chart-drawn').length > 0);
  await page.waitForLoadState('networkidle');
  await idle(page);
  const took = await page.evaluate(async () => {
    window.longest = 0;
    const button = [...document.querySelectorAll('#chart button')].find(({ textContent }) => textContent.startsWith('all of this metric'));
    const before = performance.getEntriesByName('lines-drawn').length;
    const from = performance.now();
    button.click();
    while (performance.getEntriesByName('lines-drawn').length === before) await new Promise((next) => setTimeout(next, 1));
    return performance.getEntriesByName('lines-drawn').at(-1).startTime - from;
  });
  await idle(page);
  const result = { took, ...await tasks(page), heap: await heap(page) };
  await page.context().close();
  return result;
}

/** The other program's page: all its charts are made in one go, so the first is shown with the last. */
export async function yardstick(browser, server) {
  const page = await fresh(browser);
  await page.context().route(/^https:\/\/cdn\.jsdelivr\.net\//, (route) => route.fulfill({ path: server.chartJs, contentType: 'text/javascript' }));
  await page.goto(`${server.origin}/index.html`, { waitUntil: 'load', timeout: 600_000 });
  const at = await page.evaluate(`(${shown})()`);
  const charts = await page.locator('canvas').count();
  await idle(page);
  const result = { at, charts, ...await tasks(page), heap: await heap(page) };
  await page.context().close();
  return result;
}
