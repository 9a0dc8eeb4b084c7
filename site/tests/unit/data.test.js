// Decoding of the site's data files: values come out as they went in, and a wrong file is named.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { column, parse, points, row, Timeline, valueAt, valuesIn, whole } from '../../assets/lib/data.js';

const empty = { schema: 'wirebench.column/v1', basis: 'value', places: 10, breaks: [], levels: [], steps: [], failures: [], points: null, buckets: null };

test('a row adds up its deltas, and null leaves the sum as it is', () => {
  assert.deepEqual([...row({ scale: 0.5, deltas: [4, null, -1, 0] })], [2, NaN, 1.5, 1.5]);
});

test('points hold values by place, ratios as percent, and half-widths as shares', () => {
  const found = { points: points({ from: 3, value: { scale: 1, deltas: [100, null, 10] }, ratio: { scale: 0.01, deltas: [100, null, 5] }, half_permille: [8, null, null] }) };
  assert.equal(valueAt(found, 3), 100);
  assert.ok(Number.isNaN(valueAt(found, 4)));
  assert.equal(valueAt(found, 5), 110);
  assert.ok(Math.abs(valueAt(found, 5, true) - 5) < 1e-9);
  assert.ok(Number.isNaN(valueAt(found, 2)) && Number.isNaN(valueAt(found, 6)));
  assert.deepEqual([...found.points.half], [0.008, NaN, NaN]);
  assert.equal(valuesIn(found, 0, 9), 2);
  assert.equal(valuesIn(found, 4, 5), 1);
});

test('points without any interval have none', () => {
  assert.ok(points({ from: 0, value: { scale: 1, deltas: [1] }, ratio: null, half_permille: [] }).half.every(Number.isNaN));
});

test('levels of ratios are percent, and a column of few values says so', () => {
  const value = { from: 0, value: { scale: 1, deltas: [1, 2] }, ratio: { scale: 0.1, deltas: [10, 1] } };
  const found = column({ ...empty, basis: 'ratio', points: value, levels: [{ from: 0, to: 1, level: 1.25 }], breaks: [{ at: 5, why: 'machine' }], failures: [{ at: 7, why: 'no answer' }] });
  assert.equal(found.levels[0].level, 25);
  assert.equal(found.few, true);
  assert.ok(found.breakAt.has(5));
  assert.equal(found.failed.get(7), 'no answer');
});

test('lists that differ in length, and parts that are missing, make a file broken', () => {
  const uneven = { ...empty, points: { from: 0, value: { scale: 1, deltas: [1, 2] }, ratio: { scale: 1, deltas: [1] }, half_permille: [] } };
  assert.throws(() => whole('data/columns/x.json', () => column(uneven)), /data\/columns\/x\.json is broken: its lists differ in length\./);
  assert.throws(() => whole('x', () => column({ schema: empty.schema, places: 3 })), /x is broken: a part of it is missing\./);
  assert.throws(() => whole('x', () => column({ ...empty, places: -1 })), /no number of places/);
});

test('a file that is no JSON, and one of a newer kind, are named', () => {
  assert.throws(() => parse('{"schema":', 'a/v1', 'data/a.json'), /data\/a\.json is broken: it is not whole JSON/);
  assert.throws(() => parse('{"schema":"a/v2"}', 'a/v1', 'data/a.json'), /data\/a\.json is of the kind a\/v2; this page reads a\/v1/);
  assert.throws(() => parse('null', 'a/v1', 'data/a.json'), /no known kind/);
  assert.deepEqual(parse('{"schema":"a/v1","b":1}', 'a/v1', 'x'), { schema: 'a/v1', b: 1 });
});

/** A timeline of `count` pushes a day apart, with fetch answering from memory. */
function timeline(count, change = (push) => push) {
  const asked = [];
  globalThis.fetch = async (url) => {
    asked.push(url);
    const from = 1000 * Number(/\.(\d+)\.json$/.exec(url)[1]);
    const places = Array.from({ length: Math.min(1000, count - from) }, (_, i) => from + i);
    const data = { schema: 'wirebench.pushes/v1', from, commits: places.map((place) => place.toString(16).padStart(12, '0')), at: places.map((place) => change(place * 86400, place)), runs: places.map(() => null), provisional: [count - 1] };
    return { ok: true, text: async () => JSON.stringify(data) };
  };
  return { found: new Timeline(`t${Math.random()}`, count), asked };
}

test('commits are found, the newest files first', async () => {
  const { found, asked } = timeline(2500);
  assert.equal(await found.find((2400).toString(16).padStart(12, '0')), 2400);
  assert.equal(asked.length, 1);
  assert.equal(await found.find((7).toString(16).padStart(12, '0')), 7);
  assert.equal(asked.length, 3);
  assert.equal(await found.find('ffffffffffff'), null);
  assert.equal(found.push(2499).provisional, true);
});

test('a file of pushes that is missing is asked for once', async () => {
  let asked = 0;
  globalThis.fetch = async () => { asked++; return { ok: false, status: 404 }; };
  const found = new Timeline('gone', 10);
  await assert.rejects(found.need(0, 9), /data\/pushes\/gone\.0\.json is missing\./);
  await found.need(0, 9);
  assert.equal(asked, 1);
  assert.equal(found.push(3).commit, undefined);
});
