// A segment of the journal whose name is all that a power cut has left: no event is lost with it, and a proof before the next start finds no fault.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { headerLine, segmentName } from '../../../worker/workroom/files/record.ts';
import { listSegments } from '../../../worker/workroom/files/segments.ts';
import { until } from '../../support/until.ts';
import { openRoom, person, type Room, teamRoom, withFile } from '../../support/workroom/room.ts';

const ann = person('ann');
const newItem = { kind: 'new', board: 'web', title: 'Home page' } as const;
const SMALL_BYTES = 1_500;
const HEADER = headerLine({ project: 'p', first: 1, prev: '0'.repeat(64) });

const sizeOfLast = ({ files }: Room): number => statSync(listSegments(files.folder).at(-1)?.path ?? '').size;

/** The newest event there. */
const eventIn = (room: Room, table: string): { readonly seq: number } | undefined =>
  withFile(room.file, (database) => database.prepare(`SELECT seq FROM ${table} ORDER BY seq DESC`).get()) as
    | { readonly seq: number }
    | undefined;

describe('a last segment of the journal', () => {
  for (const [how, content] of [
    ['is empty', ''],
    ['has half of its header', HEADER.slice(0, 40)],
    ['has zeros', '\0'.repeat(512)],
  ] as const)
    it(`that ${how} after a power cut is no fault, and the next start goes on in its place`, async (t) => {
      const died = { has: false };
      const room = await teamRoom(t, {
        store: 'file',
        sealedBytes: SMALL_BYTES,
        point: (name) => (died.has && name === 'workroom.append' ? new Promise(() => {}) : undefined),
      });
      while (sizeOfLast(room) < SMALL_BYTES) await room.do(ann, newItem);
      died.has = true;
      void room.do(ann, newItem);
      const { seq } = await until(() => eventIn(room, 'workroom_spool'), { what: 'the event, which is in no file' });
      room.kill();
      writeFileSync(join(room.files.folder, segmentName(seq)), content);

      const found = room.verify().faults;
      const next = await openRoom(t, { store: 'file', sealedBytes: SMALL_BYTES, path: dirname(dirname(room.file)) });

      assert.deepEqual([found, next.verify().faults], [[], []]);
      assert.equal(eventIn(next, 'workroom_places')?.seq, seq);
    });

  it('is a fault where its header is another one, or events stand in it', async (t) => {
    const room = await teamRoom(t, { store: 'file', sealedBytes: SMALL_BYTES });
    await room.do(ann, newItem);
    await room.close();
    const path = listSegments(room.files.folder).at(-1)?.path ?? '';
    const [, ...lines] = readFileSync(path, 'utf8').split('\n');

    writeFileSync(path, ['{}', ...lines].join('\n'));

    assert.equal(room.verify().faults[0]?.fault, 'changed');
  });

  it('is missed where its events are gone', async (t) => {
    const room = await teamRoom(t, { store: 'file', sealedBytes: SMALL_BYTES });
    await room.do(ann, newItem);
    await room.close();

    writeFileSync(listSegments(room.files.folder).at(-1)?.path ?? '', '');

    assert.equal(room.verify().faults[0]?.fault, 'truncated');
  });
});
