// Which places are in view, what is nearest, and what is drawn there.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { column } from '../../assets/lib/data.js';
import { bucketise, bulk, clamp, extent, lastUpTo, nearestPlace, nearestSpot, reach, room, shape, ticks, zoom } from '../../assets/chart/view.js';

const row = (values) => ({ scale: 1, deltas: values.map((value, i) => { const before = values.slice(0, i).findLast((one) => one !== null) ?? 0; return value === null ? null : value - before; }) });
const of = (values, more = {}) => column({ basis: 'value', places: values.length, breaks: [], levels: [], steps: [], failures: [], points: { from: 0, value: row(values), ratio: null, half_permille: values.map(() => 10) }, buckets: null, ...more });

test('a range stays inside, whole, and not too narrow', () => {
  assert.deepEqual(clamp([-5, 20], 100), [0, 25]);
  assert.deepEqual(clamp([90, 120], 100), [69, 99]);
  assert.deepEqual(clamp([50, 50], 100), [50, 54]);
  assert.deepEqual(clamp([0, 2], 3), [0, 2]);
  assert.deepEqual(clamp([0, 0], 0), [0, 0]);
});

test('zooming keeps the place under the pointer, and always moves', () => {
  assert.deepEqual(zoom([0, 100], 0.5, 50, 1000), [25, 75]);
  assert.deepEqual(zoom([10, 14], 1.05, 12, 1000), [9, 15]);
  assert.deepEqual(zoom([0, 99], 2, 50, 100), [0, 99]);
});

test('a range moves just far enough to show a place', () => {
  assert.deepEqual(reach([10, 20], 25, 100), [15, 25]);
  assert.deepEqual(reach([10, 20], 5, 100), [5, 15]);
  assert.deepEqual(reach([10, 20], 12, 100), [10, 20]);
});

test('nearest things', () => {
  assert.equal(lastUpTo([0, 10, 20], 15), 1);
  assert.equal(lastUpTo([5], 4), -1);
  assert.equal(nearestPlace(6.4, 0, 10, (place) => place === 3 || place === 8), 8);
  assert.equal(nearestPlace(6, 0, 10, () => false), null);
  assert.equal(nearestSpot([{ x: 0, y: 0, id: 1 }, { x: 9, y: 9, id: 2 }], 8, 8).id, 2);
  assert.equal(nearestSpot([], 1, 1), null);
});

test('stretches keep every peak and cross no break', () => {
  const found = of([1, 9, 2, null, 3, 4, 100, 5], { breaks: [{ at: 5, why: 'machine' }] });
  const { from, min, middle, max } = bucketise(found, 0, 7, false, 3);
  assert.deepEqual(from, [0, 3, 5]);
  assert.deepEqual(min, [1, 3, 4]);
  assert.deepEqual(middle, [2, 3, 5]);
  assert.deepEqual(max, [9, 3, 100]);
  assert.deepEqual(bucketise(of([null, null]), 0, 1, false, 1).middle, [NaN]);
});

test('up to 400 values in view are dots, more are stretches, and missing ones do not count', () => {
  const many = of(Array.from({ length: 1000 }, (_, i) => (i % 2 ? null : i)));
  assert.ok(shape(many, [0, 799], false).at);
  const wide = shape(many, [0, 999], false);
  assert.equal(wide.at, undefined);
  assert.equal(wide.end, 999);
  assert.ok(wide.from.length <= 400);
});

test('whiskers are on what was judged only', () => {
  const found = column({ basis: 'ratio', places: 1, breaks: [], levels: [], steps: [], failures: [], points: { from: 0, value: row([50]), ratio: row([2]), half_permille: [10] }, buckets: null });
  assert.equal(shape(found, [0, 0], true).half(0), 2);
  assert.ok(Number.isNaN(shape(found, [0, 0], false).half(0)));
});

test('stretches of the file are cut to the view', () => {
  const envelope = { min: row([1, 2, 3]), middle: row([2, 3, 4]), max: row([3, 4, 5]) };
  const found = column({ basis: 'value', places: 30, breaks: [], levels: [], steps: [], failures: [], points: null, buckets: { from: [0, 10, 20], value: envelope, ratio: null } });
  const cut = shape(found, [12, 15], false);
  assert.deepEqual([[...cut.from], [...cut.max], cut.end], [[10], [4], 19]);
  assert.deepEqual(extent([cut]), [2, 4]);
  assert.equal(shape(found, [0, 29], true), null);
});

test('an axis has air, starts at zero when asked to, and holds a constant', () => {
  assert.deepEqual(extent([shape(of([100, 200]), [0, 1], false)]), [99, 202]);
  assert.equal(room([10, 20], { zero: true })[0], 0);
  assert.equal(room([-5, -1], { zero: true })[1], 0);
  const [low, high] = room([7, 7], {});
  assert.ok(low < 7 && high > 7);
  assert.ok(room([0, 0], {})[1] > 0);
});

test('ticks are round, and whole when asked to', () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(1, 4, 40, { whole: true }), [1, 2, 3, 4]);
  assert.deepEqual(ticks(0.1, 0.32, 2), [0.2]);
});

test('a few values far off leave the axis; levels and the newest values never do', () => {
  const noisy = Array.from({ length: 200 }, (_, i) => 100 + (i % 7));
  const view = (values, levels) => bulk([{ shape: shape(of(values), [0, values.length - 1], false), levels }], false);
  assert.equal(view(noisy), null, 'nothing is far off');
  const spike = noisy.with(50, 900);
  assert.deepEqual(view(spike), [100, 106]);
  assert.equal(view(spike, [{ level: 103 }, { level: 900 }]), null, 'a level is on the axis');
  assert.equal(view(noisy.with(198, 900)), null, 'the newest may be the first of a new level');
  assert.equal(view(noisy.map((value, i) => (i % 10 ? value : 900))), null, 'every tenth value is no exception');
  assert.equal(view(noisy.slice(0, 12).with(3, 900)), null, 'of few values all are shown');
});
