// The still picture of a series has the same marks, levels, values, axes and colours as its moving chart before any zoom.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { clean, drawn, start, visit } from '../lib/browser.js';
import { record } from '../lib/drawn.js';
import { settled } from '../lib/settled.js';
import { history, run, series, steady } from '../lib/history.js';
import { build, demo } from '../lib/sites.js';

// Windows in which the plot of the moving chart has the size of the still picture.
const SIZES = { '': { width: 1011, height: 900 }, '.phone': { width: 390, height: 720 } };
/** How far a place may be off, px: the still has a tenth of a pixel; at an edge, a name is moved by its width, which is estimated there. */
const [NEAR, NAME] = [1, 10];

// So few values that each has its whisker and is named by its commit, and so many that they are stretches.
const made = async (count) => {
  const runs = Array.from({ length: count }, (_, i) => run(i, Date.UTC(2026, 0, 1, 2 * i)));
  const metrics = [{ metric: 'server_cpu', values: steady(count), half_permille: Array.from({ length: count }, (_, i) => 4 + (i % 5)) }];
  return build(await history({ runs, series: [series('a@http@hey', [], { metrics })] }));
};

const sites = {};
before(async () => {
  const browser = await start();
  sites.demo = await visit(browser, await demo());
  sites.few = await visit(browser, await made(25));
  sites.many = await visit(browser, await made(900));
});

/** What the moving chart draws, by what it is. */
async function moving(page, path) {
  await page.addInitScript(record);
  await page.go(path);
  await drawn(page);
  await settled(page);
  const [entries, size] = await page.locator('#chart .plot canvas').first().evaluate((canvas) => [canvas.drawn, [canvas.width, canvas.height]]);
  const is = (test) => entries.filter(test);
  const strokes = (wide, strong) => is(({ what, alpha, width }) => what === 'stroke' && width === wide && alpha === strong);
  const fills = (strong) => is(({ what, alpha, points }) => what === 'fill' && alpha === strong && points.length > 0);
  const rules = is(({ what, width, points }) => what === 'stroke' && width === 1 && points.length === 2 && points[0][0] === points[1][0]);
  const texts = is(({ text }) => text !== undefined);
  return {
    size,
    levels: strokes(4, 0.35), course: strokes(1.5, 0.6), middle: strokes(1.5, 1),
    whiskers: strokes(1, 0.6).filter(({ points }) => points.length > 2),
    band: fills(0.2), area: fills(0.22),
    step: rules.filter(({ dash }) => dash === '1 3'),
    break: rules.filter(({ dash }) => dash === '6 4'),
    release: rules.filter(({ dash, alpha }) => dash === '' && alpha === 0.6),
    names: texts.filter(({ y, x }) => y < 38 && x > 70),
    failures: texts.filter(({ text }) => text === '✕'),
    axes: texts.filter(({ text, x, y }) => text !== '✕' && (y >= 38 || x <= 70)),
  };
}

/** The same of a still picture, opened by itself. */
async function still(page, path) {
  await page.go(path);
  return page.evaluate(() => {
    const hex = (colour) => `#${colour.match(/\d+/g).slice(0, 3).map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
    const paint = (one) => { const { stroke, fill } = getComputedStyle(one); return hex(stroke === 'none' ? fill : stroke); };
    const all = (selector, of) => [...document.querySelectorAll(selector)].map((one) => ({ ...of(one), colour: paint(one) }));
    const number = (one, name) => Number(one.getAttribute(name));
    const paths = (selector) => all(selector, (one) => ({ points: [...one.getAttribute('d').matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)].map(([, x, y]) => [Number(x), Number(y)]) }));
    const lines = (selector) => all(selector, (one) => ({ points: [[number(one, 'x1'), number(one, 'y1')], [number(one, 'x2'), number(one, 'y2')]] }));
    const texts = (selector) => all(selector, (one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { text: one.textContent, x: x + width / 2, y: y + height / 2 };
    });
    return {
      size: [number(document.documentElement, 'width'), number(document.documentElement, 'height')],
      levels: paths('.level'), course: paths('.course'), middle: paths('.middle'),
      whiskers: paths('.whisker'), band: paths('.band'), area: paths('.area'),
      step: lines('.rule.step'), break: lines('.rule.break'), release: lines('.rule.release'),
      names: texts('.name'), failures: texts('.failure'), axes: texts('.tick, .below, .unit'),
    };
  });
}

/** A point that is named twice in a row is one. */
const once = ({ points, colour }) => ({ colour, points: points.filter(([x, y], i) => i === 0 || x !== points[i - 1][0] || y !== points[i - 1][1]) });

function samePoints(what, expected, found) {
  assert.equal(found.length, expected.length, `${what}: how many`);
  for (const [i, { points, colour }] of expected.map(once).entries()) {
    assert.equal(found[i].colour, colour, `${what}: colour`);
    assert.equal(found[i].points.length, points.length, `${what}: points`);
    const off = points.flatMap((point, k) => point.map((one, axis) => Math.abs(one - found[i].points[k][axis])));
    assert.ok(Math.max(...off) <= NEAR, `${what} is ${Math.max(...off)} px off`);
  }
}

function sameTexts(what, expected, found, [across, down]) {
  const sorted = (all) => all.toSorted((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : one.x - other.x));
  const [one, other] = [expected, found].map(sorted);
  assert.deepEqual(other.map(({ text }) => text), one.map(({ text }) => text), what);
  for (const [i, { text, x, y, colour }] of one.entries()) {
    assert.equal(other[i].colour, colour, `${what} ${text}: colour`);
    assert.ok(Math.abs(other[i].x - x) <= across && Math.abs(other[i].y - y) <= down, `${what} ${text}: ${x}, ${y} and ${other[i].x}, ${other[i].y}`);
  }
}

const WHAT = ['levels', 'course', 'middle', 'whiskers', 'band', 'area', 'step', 'break', 'release'];
/** Site, series, metric, the address that asks for it, and what of it there must be. */
const CASES = [
  ['demo', 'weather-fixed-count.http.hey', 'server-cpu', '', ['levels', 'course', 'band', 'step', 'break', 'release', 'names', 'failures']],
  ['demo', 'weather-fixed-count.http.hey', 'throughput', '?metric=throughput', ['levels', 'course', 'band', 'step', 'break', 'release', 'names', 'failures']],
  ['few', 'a.http.hey', 'server-cpu', '', ['levels', 'course', 'whiskers']],
  ['many', 'a.http.hey', 'server-cpu', '', ['levels', 'middle', 'area']],
];

for (const scheme of ['light', 'dark']) {
  for (const [ending, size] of Object.entries(SIZES)) {
    describe(`${scheme}${ending}`, () => {
      for (const [site, series, metric, query, wanted] of CASES) {
        test(`${site}: ${series}: ${metric}`, async () => {
          const page = await sites[site].open('about.html', { size, scheme });
          const expected = await moving(page, `series/${series}.html${query}`);
          const found = await still(page, `charts/${series}.${metric}${ending}.svg`);
          assert.deepEqual(found.size, expected.size);
          for (const what of WHAT) samePoints(what, expected[what], found[what].map(once));
          sameTexts('names', expected.names, found.names, [NAME, 4]);
          sameTexts('failures', expected.failures, found.failures, [NEAR, 12]);
          // The moving chart gives the place of a letter's foot or head, the still picture its middle.
          sameTexts('axes', expected.axes, found.axes, [8, 12]);
          for (const what of wanted) assert.ok(found[what].length > 0, `there are ${what}`);
          clean(page);
          await page.context().close();
        });
      }
    });
  }
}

test('a small plot of another metric says its unit and which way is better', async () => {
  const page = await sites.demo.open('about.html');
  await page.addInitScript(record);
  await page.go('series/weather-fixed-count.http.hey.html');
  await drawn(page);
  await page.locator('#metrics').scrollIntoViewIfNeeded();
  await page.waitForSelector('#metrics canvas');
  await settled(page);
  const texts = await page.locator('#metrics canvas').first().evaluate((canvas) => canvas.drawn.map(({ text }) => text));
  assert.ok(texts.includes('% against v1.3.0 (higher is better)'), texts.join(', '));
  clean(page);
});
