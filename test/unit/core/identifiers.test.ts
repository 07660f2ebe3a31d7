// Ids that are made here.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newRuntimeId } from '../../../shared/identifiers.ts';

it('is a UUIDv7: of its version, in the order in which they are made, no two alike', () => {
  const at = Date.UTC(2026, 0, 1);
  const ids = Array.from({ length: 1_000 }, (_, ms) => newRuntimeId(at + ms));

  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(Array.from({ length: 10_000 }, () => newRuntimeId(at))).size, 10_000);
  assert.equal(Number.parseInt(ids[0]?.replace('-', '').slice(0, 12) ?? '', 16), at);
});
