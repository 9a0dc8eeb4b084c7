// The view in the address: what is written is read back, and nonsense is no view.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { places, read, write } from '../../assets/chart/address.js';

test('a view comes back as it was', () => {
  const view = { metric: 'server_cpu', from: 'abcdef123456', to: '123456abcdef', held: 'aaaaaaaaaaaa', raw: true, zero: true, all: false, lines: ['weather-http-h2load', 'b'] };
  const query = write(view);
  assert.equal(query, '?metric=server_cpu&from=abcdef123456&to=123456abcdef&y=value&zero=1&with=weather-http-h2load,b&pin=aaaaaaaaaaaa');
  assert.deepEqual(read(query), { ...view, nonsense: [] });
});

test('what is as at first is left out', () => {
  assert.equal(write({}), '');
  assert.equal(write({ all: true, lines: ['a'] }), '?lines=all');
});

test('nonsense counts as not there', () => {
  const asked = read('?from=<script>&to=XYZ&pin=../..&with=a/b,%3Cb%3E,ok&y=what');
  assert.deepEqual([asked.from, asked.to, asked.held, asked.lines, asked.raw], [null, null, null, ['ok'], false]);
});

test('what should be a commit and is none is named', async () => {
  const { range, notice } = await places(read('?from=<script>&to='), { places: 10 });
  assert.deepEqual([range, notice], [null, '“from” in the address is no commit: left out. “to” in the address is no commit: left out.']);
});

test('unknown commits stand for the nearest end, and are named', async () => {
  const timeline = { places: 10, find: async (commit) => ({ abcdef123456: 4 })[commit] ?? null };
  assert.deepEqual(await places(read('?from=abcdef123456&to=ffffffffffff'), timeline), { range: [4, 9], held: null, notice: 'Commit ffffffffffff is not in this history: shown up to its end.' });
  assert.deepEqual(await places(read('?to=abcdef123456&pin=abcdef123456'), timeline), { range: [0, 4], held: 4, notice: '' });
  assert.deepEqual(await places(read(''), timeline), { range: null, held: null, notice: '' });
});
