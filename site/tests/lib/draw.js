// Makes the pictures of README and docs from the demo's site: `node draw.js SITE OUT`; called by scripts/pictures.sh.
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { marked } from 'marked';
import { chromium } from 'playwright-core';
import { serve } from './serve.js';
import { painted, settled } from './settled.js';
import { browserProgram, files, root } from './where.js';

/** No picture is heavier than this, so that pages with several of them load quickly. */
const HEAVIEST = 150_000;
const [site, out] = process.argv.slice(2);

const comparisons = await files(join(site, 'compare'), '.html');
const regressed = comparisons.find((name) => name.startsWith('20261110'));
const PICTURES = [
  { name: 'overview', path: 'index.html', size: { width: 1200, height: 620 } },
  {
    name: 'comment', path: `compare/${regressed}`, size: { width: 1080, height: 600 },
    // The comment of this comparison as it is shown below a pull request: its Markdown, rendered.
    act: async (page) => {
      const html = marked.parse(await page.locator('#markdown').inputValue(), { gfm: true });
      // The page's own policy forbids the style that follows.
      await page.goto('about:blank');
      await page.setContent(await readFile(join(import.meta.dirname, 'comment.html'), 'utf8'));
      await page.locator('.body').evaluate((body, content) => { body.innerHTML = content; }, html);
    },
  },
  {
    name: 'series', path: 'series/weather-fixed-count.http.hey.html', size: { width: 1000, height: 740 },
    // The newest hundred pushes: the change is large enough to be seen.
    act: async (page) => {
      await page.waitForSelector('#chart[data-ready=true]');
      await page.getByRole('button', { name: '100', exact: true }).click();
    },
  },
  {
    name: 'compare', path: `compare/${regressed}`, size: { width: 1100, height: 560 },
  },
];

const { origin, close } = await serve(site);
const browser = await chromium.launch({
  executablePath: browserProgram(),
  env: { ...process.env, FONTCONFIG_FILE: join(root, 'site/tests/pictures/fonts.conf') },
  args: ['--force-color-profile=srgb', '--disable-lcd-text'],
});
try {
  await mkdir(out, { recursive: true });
  for (const { name, path, size, act } of PICTURES) {
    const page = await browser.newPage({ viewport: size, colorScheme: 'light', locale: 'en-GB', timezoneId: 'UTC' });
    await page.goto(`${origin}/${path}`, { waitUntil: 'networkidle' });
    await act?.(page);
    await settled(page);
    await painted(page);
    const file = join(out, `${name}.png`);
    await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
    const bytes = (await stat(file)).size;
    console.log(`${file}\t${bytes} bytes`);
    if (bytes > HEAVIEST) throw new Error(`${file} has ${bytes} bytes, more than ${HEAVIEST}: make it smaller`);
    await page.close();
  }
} finally {
  await browser.close();
  await close();
}
