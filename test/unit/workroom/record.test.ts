// Lines of a segment: one spelling, and the short look at a line that was proven.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkroomEventsTable } from '../../../worker/database/tables.ts';
import { readRecord, recordLine, spotAt } from '../../../worker/workroom/files/record.ts';

const HASH = 'a1'.repeat(32);
const EVENT: WorkroomEventsTable = {
  seq: 12,
  id: 'http/token/key/1',
  stream: 'item/web-1',
  version: 3,
  kind: 'item.edited',
  at: 1_700_000_000_000,
  actor: 'token:main',
  cause: null,
  data: '{"title":"x"}',
  texts: null,
  digest: HASH,
  hash: HASH,
};
const MARKS = ',"id":"x","kind":"y","seq":1,"stream":"z","texts":null,"version":9}';
const EVENTS: readonly WorkroomEventsTable[] = [
  EVENT,
  { ...EVENT, id: `chat/"quoted" \\ ${MARKS}/1`, actor: MARKS, cause: MARKS },
  { ...EVENT, stream: 'item/größe-1', data: JSON.stringify({ text: MARKS }), texts: JSON.stringify({ text: MARKS }) },
  { ...EVENT, id: '\u{1f600}\n/1', kind: MARKS, version: 1_000_000 },
];

describe('a line of a segment', () => {
  it('is read whole, and by its place alone, at any offset', () => {
    for (const event of EVENTS) {
      const line = recordLine(event);
      const segment = Buffer.concat([Buffer.from('a header\n'), line, recordLine(EVENT)]);
      const end = 9 + line.length;
      assert.deepEqual(readRecord(segment, 9), { kind: 'whole', event, end });
      const { seq, id, stream, version } = event;
      assert.deepEqual(spotAt(segment, 9), { seq, id, stream, version, bytes: line.length });
    }
  });

  it('is broken by any other byte in front of its JSON, and by a missing end', () => {
    const line = recordLine(EVENT);
    const start = line.indexOf('{');
    for (let at = 0; at < start; at += 1)
      for (const byte of [0x20, 0x2f, 0x30, 0x31, 0x39, 0x3a, 0x41, 0x60, 0x61, 0x67]) {
        const changed = Buffer.from(line);
        changed[at] = byte;
        if (!changed.equals(line)) assert.equal(readRecord(changed, 0).kind, 'broken', `${at} ${byte}`);
      }
    const padded = Buffer.concat([line.subarray(0, 9), Buffer.from('0'), line.subarray(9)]);
    assert.equal(readRecord(padded, 0).kind, 'broken');
    for (let bytes = 1; bytes < line.length; bytes += 1) {
      assert.equal(readRecord(line.subarray(0, bytes), 0).kind, 'broken', String(bytes));
      assert.equal(spotAt(line.subarray(0, bytes), 0), undefined, String(bytes));
    }
  });
});
