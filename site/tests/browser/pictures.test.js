// The main pages look as they were last approved, on a phone and on a desktop.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { DESKTOP, PHONE, clean, drawn, start, visit } from '../lib/browser.js';
import { nightly } from '../lib/nightly.js';
import { looksLike } from '../lib/pictures.js';
import { painted, settled } from '../lib/settled.js';
import { demo } from '../lib/sites.js';
import { madeUp } from '../lib/where.js';

// Another system draws letters in another way.
const elsewhere = process.platform === 'linux' ? false : 'pictures are of Linux';
/** Pictures that are compared every day. */
const DAILY = ['overview, phone', 'series, desktop'];
let site;
let pages;

before(async () => {
  site = await visit(await start(), await demo());
  const runs = await readdir(join(madeUp, 'runs/2026/11'));
  const ofDay = (day) => runs.find((name) => name.includes(`-202611${day}T`)).slice(13, -5);
  pages = {
    overview: 'index.html',
    series: 'series/weather-fixed-count.http.hey.html',
    compare: `compare/${ofDay(10)}.html`,
    run: `run/${ofDay(17)}.html`,
  };
});

for (const [size, width] of [[PHONE, 'phone'], [DESKTOP, 'desktop']]) {
  for (const name of ['overview', 'series', 'compare', 'run']) {
    const title = `${name}, ${width}`;
    test(title, { skip: elsewhere || (!DAILY.includes(title) && nightly) }, async () => {
      const page = await site.open(pages[name], { size });
      if (name === 'series') await drawn(page);
      await page.waitForLoadState('networkidle');
      await settled(page);
      await painted(page);
      await looksLike(page, `${name}-${width}`);
      clean(page);
      await page.context().close();
    });
  }
}
