// Makes the pictures of the docs from a built site: `node draw.js SITE OUT`; called by scripts/pictures.sh.
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { serve } from './serve.js';
import { painted, settled } from './settled.js';
import { browserProgram, root } from './where.js';

/** No picture is heavier than this. */
const HEAVIEST = 150_000;
const [site, out] = process.argv.slice(2);

const PICTURES = [{ name: 'overview', path: 'index.html', size: { width: 1200, height: 620 } }];

const { origin, close } = await serve(site);
const browser = await chromium.launch({
  executablePath: browserProgram(),
  env: { ...process.env, FONTCONFIG_FILE: join(root, 'site/tests/pictures/fonts.conf') },
  args: ['--force-color-profile=srgb', '--disable-lcd-text'],
});
try {
  await mkdir(out, { recursive: true });
  for (const { name, path, size } of PICTURES) {
    const page = await browser.newPage({ viewport: size, colorScheme: 'light', locale: 'en-GB', timezoneId: 'UTC' });
    await page.goto(`${origin}/${path}`, { waitUntil: 'networkidle' });
    await settled(page);
    // The docs name nobody.
    await page.evaluate(() => document.querySelectorAll('.author').forEach((one) => one.remove()));
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
