// Opens pages in Debian's Chromium and writes down everything that must not happen there.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { later } from './later.js';
import { serve } from './serve.js';
import { browserProgram, root } from './where.js';

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

/** Milliseconds after which a page that does not come hangs: a machine with eight busy programs took over ten seconds for one. */
const PATIENCE = 90_000;

/** Starts the browser; it closes after the tests of a file. Text is set in DejaVu whatever else the machine has. */
export async function start() {
  const browser = await chromium.launch({
    executablePath: browserProgram(),
    env: { ...process.env, FONTCONFIG_FILE: join(root, 'site/tests/pictures/fonts.conf') },
    // No other host is reached; that one was asked is a fault.
    args: ['--force-color-profile=srgb', '--font-render-hinting=none', '--disable-lcd-text', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  later(() => browser.close());
  return browser;
}

/**
 * A site that is served while the tests of a file run: `open(path, …)` opens a page of it in a context of its own; `page.faults` is what
 * went wrong there, and `page.go(path)` goes on to another page with a clean sheet.
 */
export async function visit(browser, folder) {
  const { origin, close } = await serve(folder);
  later(close);
  const open = async (path, { scheme = 'light', size = DESKTOP, script = true, reduced = 'no-preference', media } = {}) => {
    const context = await browser.newContext({
      viewport: size, colorScheme: scheme, javaScriptEnabled: script, reducedMotion: reduced, locale: 'en-GB', timezoneId: 'UTC',
      forcedColors: media === 'forced-colors' ? 'active' : 'none',
    });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.faults = watch(page, origin);
    page.go = async (next) => {
      page.faults.length = 0;
      await page.goto(`${origin}/${next}`, { waitUntil: 'load' });
    };
    await page.go(path);
    return page;
  };
  return { origin, open };
}

function watch(page, origin) {
  const faults = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') faults.push(`request off-site: ${url}`);
  });
  page.on('console', (message) => { if (message.type() === 'error') faults.push(`console: ${message.text()} ${message.location().url}`); });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error}`));
  page.on('dialog', async (dialog) => { faults.push(`dialog: ${dialog.message()}`); await dialog.dismiss(); });
  return faults;
}

/** Waits until the moving chart is there. */
export const drawn = (page) => page.waitForSelector('#chart[data-ready=true]');

/** Nothing was written to the console, nothing failed, nothing was asked of another host. */
export function clean(page, name = page.url()) {
  assert.deepEqual(page.faults, [], name);
}

/** The page does not scroll sideways. */
export async function narrow(page, name = page.url()) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `${name}: the page is ${content} wide in a window of ${window}`);
}

let axe;

/** axe-core finds nothing, of whatever impact. */
export async function accessible(page, name = page.url()) {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const words = violations.flatMap(({ id, help, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${help}\n  ${html.slice(0, 200)}\n  ${failureSummary.replaceAll('\n', ' ')}`));
  assert.equal(words.length, 0, `${name}\n${words.join('\n')}`);
}
