// How old the newest run may be.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { stale } from '../../assets/lib/stale.js';

test('more days than allowed are said, fewer are not, and what is no time says nothing', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  assert.equal(stale('2026-01-24T12:00:00Z', 7, now), null);
  assert.equal(stale('2026-01-01T12:00:00Z', 7, now), 'Stale: the newest run is of 2026-01-01, 30 days ago. What came after it was not measured.');
  assert.equal(stale('nonsense', 7, now), null);
});
