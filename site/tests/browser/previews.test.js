// What a pasted link shows: the page's answer and the picture of the step, drawn when the site is built.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { build, folder } from '../lib/sites.js';
import { files, madeUp, wirebench } from '../lib/where.js';

const tag = (page, property) => page.match(new RegExp(`<meta property="og:${property}" content="([^"]*)">`))?.[1];

test('the title is the answer, and the picture the newest open step', async () => {
  const out = await build(madeUp, '--repository', 'octo/weather');
  const index = await readFile(join(out, 'index.html'), 'utf8');
  const answer = index.match(/<h1[^>]*>([^<]*)</)[1];
  assert.equal(tag(index, 'title'), answer);
  assert.equal(tag(index, 'image'), 'https://octo.github.io/weather/previews/Site.png');
  const data = await readFile(join(out, 'previews/Site.tsv'), 'utf8');
  assert.ok(data.includes(answer), 'the picture says the same');
  for (const name of await files(join(out, 'previews'), '.png')) {
    const picture = await readFile(join(out, 'previews', name));
    assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [1200, 630], name);
  }
  const series = await readFile(join(out, 'series/weather-fixed-count.http.hey.html'), 'utf8');
  assert.equal(tag(series, 'image'), 'https://octo.github.io/weather/previews/weather-fixed-count.http.hey.png');
});

test('without gnuplot the tag is left out, and that is said', async () => {
  const out = join(await folder(), '_site');
  const { WIREBENCH_TOOLS: _, ...env } = process.env;
  const { stderr } = await promisify(execFile)(wirebench, ['site', 'build', madeUp, '--repository', 'octo/weather', '--out', out], { cwd: await folder(), env: { ...env, PATH: '/nonexistent' } });
  assert.match(stderr, /gnuplot is not installed: pasted links to the site show no picture/);
  const index = await readFile(join(out, 'index.html'), 'utf8');
  assert.equal(tag(index, 'image'), undefined);
  assert.ok(tag(index, 'title'));
});
