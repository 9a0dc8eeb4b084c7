// Numbers, verdicts, facts and links as people read them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { column } from '../../assets/lib/data.js';
import { commitLink, compareLink, date, facts, fit, isRun, marks, number, percent, quantity } from '../../assets/lib/text.js';
import { look } from '../../assets/chart/draw.js';

test('numbers', () => {
  assert.deepEqual([16148, 37.0249, 0.00123, 0, -2, 1e20].map((value) => number(value)), ['16,148', '37.02', '0.00123', '0', '−2', '1.00e+20']);
  assert.deepEqual([quantity(7084, 'ns'), quantity(0.5, 'ns'), quantity(8493465, 'bytes'), quantity(44870.4, 'req/s'), quantity(3, '')], ['7.084 µs', '0.5 ns', '8.1 MiB', '44,870 req/s', '3']);
  assert.deepEqual([percent(5.2), percent(-0.414), percent(0.001), percent(123.4), percent(0.8, '')], ['+5.20 %', '−0.41 %', '0 %', '+123 %', '0.80 %']);
  assert.deepEqual(fit('ns', 2e6), [1e6, 'ms']);
  assert.deepEqual([quantity(1234567891, 'ns/iter'), quantity(2500, 'ms'), quantity(0.5, 'us/op'), quantity(3, 'constructor')], ['1.235 s/iter', '2.5 s', '500 ns/op', '3 constructor']);
});

test('dates, also none and impossible ones', () => {
  assert.deepEqual([date(0), date(1795000000, true), date(null), date(1e15)], ['1970-01-01', '2026-11-18 11:06 UTC', '', '']);
});

const ratio = (values) => ({ scale: 0.01, deltas: values.map((value, i) => (value === null ? null : value - (values.slice(0, i).findLast((one) => one !== null) ?? 0))) });
const found = column({
  basis: 'ratio', reference: 'v1', unit: 'ns', places: 6, levels: [], steps: [], failures: [{ at: 2, why: 'no answer' }], breaks: [{ at: 4, why: 'machine' }],
  points: { from: 0, value: { scale: 1, deltas: [100, 10, null, 10, 10, 10] }, ratio: ratio([100, 110, null, 121, 100, 100]), half_permille: [5, null, null, null, null, null] }, buckets: null,
});

test('facts: value, interval, change over a gap, none across a break, reason of a failure', () => {
  assert.deepEqual(facts(found, 0, true), { value: '0 % against v1', other: '100 ns', interval: '± 0.50 %', change: null, since: null });
  assert.deepEqual([facts(found, 3, false).change, facts(found, 3, false).since], ['+10.0 % against the one before', 1]);
  assert.equal(facts(found, 4, false).change, 'not comparable with the one before: machine');
  assert.deepEqual(facts(found, 2, false), { value: null, failure: 'no answer' });
});

test('marks come in order, with shape and word', () => {
  const step = { last_before: 1, first_after: 2, change_percent: 5, low_percent: 4, high_percent: 6, accepted: null };
  const steps = [{ ...step, direction: 'worse' }, { ...step, direction: 'better', accepted: 'x' }, { ...step, direction: 'worse', accepted: 'meant' }, { ...step, direction: 'unknown' }];
  const list = marks({ breaks: [{ at: 1, why: 'machine' }], failures: [{ at: 0, why: 'no answer' }], steps }, [{ at: 9, name: 'v2' }]);
  assert.deepEqual(list.map(({ at, short }) => [at, short]), [[0, undefined], [1, 'machine'], [2, '▼ worse +5.00 %'], [2, '▲ better +5.00 %'], [2, '▼ accepted +5.00 %'], [2, '◇ changed +5.00 %'], [9, 'v2']]);
  assert.deepEqual(list.slice(2, 6).map(({ colour }) => colour), ['worse', 'better', 'noise', 'noise']);
});

test('links are made from nothing but owner/name and commits', () => {
  assert.equal(commitLink('a-b/c.d', 'abcdef123456'), 'https://github.com/a-b/c.d/commit/abcdef123456');
  assert.equal(compareLink('a/b', 'abcdef1', 'abcdef2'), 'https://github.com/a/b/compare/abcdef1...abcdef2');
  for (const repository of [null, 'a', 'a/b/c', '../x', 'a/..', 'javascript:alert(1)/x', 'a/b?c', '-a/b']) assert.equal(commitLink(repository, 'abcdef123456'), null, repository);
  for (const sha of [null, '', 'ABCDEF12', 'abc', '../../x', 'abcdef1/..']) assert.equal(commitLink('a/b', sha), null, sha);
  assert.ok(isRun('20261121T103052Z-9893b0'));
  for (const run of [null, '', '..', '../x', 'a/b', 'a b']) assert.ok(!isRun(run), run);
});

test('a protocol has one colour, another server keeps its own; the lines of a chart differ by dash and marker', () => {
  const looks = ['http', 'http-multi', 'grpc', 'grpc-multi'].map((server, nth) => look(server, nth));
  assert.deepEqual(looks.map(({ colour }) => colour), [1, 1, 2, 2]);
  assert.equal(look('shop-grpc-web').colour, 3);
  assert.equal(look('parser').colour, look('parser', 3).colour);
  assert.equal(look('http', 7).colour, 1);
  for (const part of ['marker', 'dash']) assert.equal(new Set(looks.map((one) => String(one[part]))).size, 4);
  assert.equal(new Set(Array.from({ length: 16 }, (_, nth) => look('http', nth).sign)).size, 16);
});
