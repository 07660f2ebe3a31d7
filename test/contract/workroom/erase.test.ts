// Words of people are erased for good: from the journal, the catalog and the bytes of the files. The chain holds.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { sql } from '../../../worker/database/statement.ts';
import type { WorkroomEventsTable } from '../../../worker/database/tables.ts';
import { type ErasedTarget, erasableOf, erase } from '../../../worker/workroom/erase.ts';
import { withoutTexts } from '../../../worker/workroom/files/erasures.ts';
import { segmentName } from '../../../worker/workroom/files/record.ts';
import { scrub } from '../../../worker/workroom/journal/scrub.ts';
import { readItem, readView } from '../../../worker/workroom/read-catalog.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import {
  OPERATOR,
  openRoom,
  person,
  type Room,
  type RoomOptions,
  STORES,
  teamRoom,
  withFile,
} from '../../support/workroom/room.ts';

const [ann, bob] = [person('ann'), person('bob')];
const TITLE = 'Flat of Xavier Quince';
const SECRET = 'the key lies below the mat';

async function fill(room: Room): Promise<void> {
  await room.do(OPERATOR, { kind: 'member.link', member: 'bob', endpoint: 'root/irc:irc~a', user: 'bob-at-home' });
  await room.do(ann, { kind: 'new', board: 'web', title: TITLE, text: 'Two rooms and a bath' });
  await room.do(ann, { kind: 'edit', item: 'web-1', title: `${TITLE}, second floor` });
  await room.do(bob, { kind: 'comment', item: 'web-1', text: SECRET });
  await room.do(ann, { kind: 'new', board: 'web', title: 'Home page' });
  await room.do(bob, { kind: 'block', item: 'web-2', blocker: 'external', reason: 'waiting for Xavier' });
  await room.do(ann, { kind: 'comment', item: 'web-2', text: 'noted by ann' });
}

let erasures = 0;
const erased = ({ core, workroom, journal, files }: Room, target: ErasedTarget) =>
  erase(
    {
      core,
      workroom,
      journal: erasableOf(journal, { core, ...files }),
      actor: OPERATOR,
      command: { id: `erase-${++erasures}`, cause: null },
    },
    target,
  );

/** The bytes of all files, after everything of the log was copied into the database. */
function bytesOf({ file, files: { folder, catalogFile }, journal }: Room): string {
  withFile(file, (database) => database.pragma('wal_checkpoint(TRUNCATE)'));
  const inFiles =
    journal.store === 'file' ? [catalogFile, ...readdirSync(folder).map((name) => join(folder, name))] : [];
  const log = existsSync(`${file}-wal`) ? [`${file}-wal`] : [];
  return [file, ...log, ...inFiles].map((path) => readFileSync(path, 'latin1')).join('');
}

/** Small, so that the words lie in many segments. */
const SEALED_BYTES = 1_500;

for (const store of STORES)
  describe(`erasing words in the ${store} store`, () => {
    const roomOf = (t: Cleanup, more: RoomOptions = {}): Promise<Room> =>
      teamRoom(t, { store, sealedBytes: SEALED_BYTES, ...more });

    it('of an item takes them from journal, catalog and file, and the proof holds', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      assert.ok(bytesOf(room).includes(SECRET));
      const { head } = room.verify();
      assert.deepEqual(await erased(room, { item: 'web-1' }), { streams: 1, events: 3 });

      assert.deepEqual(room.verify().faults, []);
      assert.equal(room.verify().head.seq, head.seq + 1);
      const item = await readItem(room.core.reader, 'web-1');
      assert.deepEqual([item?.title, item?.text, item?.comments[0]?.text], [undefined, undefined, undefined]);
      const bytes = bytesOf(room);
      for (const words of [TITLE, 'second floor', SECRET, 'Two rooms']) assert.ok(!bytes.includes(words), words);
      assert.ok(bytes.includes('Home page'));
      await room.do(ann, { kind: 'comment', item: 'web-1', text: 'goes on' });
      assert.deepEqual(room.verify().faults, []);
    });

    it('leaves no earlier version of the item in free bytes of a page', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      for (let round = 0; round < 40; round += 1) {
        await room.do(ann, { kind: 'edit', item: 'web-1', title: `${SECRET} ${'.'.repeat((round * 37) % 200)}` });
        await room.do(ann, { kind: 'new', board: 'web', title: `Other ${round}` });
      }
      await erased(room, { item: 'web-1' });
      assert.ok(!bytesOf(room).includes(SECRET));
    });

    it('leaves no long words in pages that became free', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      for (let round = 0; round < 10; round += 1)
        await room.do(ann, { kind: 'comment', item: 'web-1', text: `${SECRET} ${round} `.padEnd(12_000, '.') });
      withFile(room.file, (database) => database.pragma('wal_checkpoint(TRUNCATE)'));
      await erased(room, { item: 'web-1' });
      withFile(room.file, (database) => database.pragma('wal_checkpoint(TRUNCATE)'));
      assert.ok(!bytesOf(room).includes(SECRET));
    });

    it('of a member takes what they wrote and their accounts, and leaves what others wrote', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      assert.deepEqual(await erased(room, { member: 'bob' }), { streams: 3, events: 3 });

      assert.deepEqual(room.verify().faults, []);
      const { team } = await readView(room.core.reader, { kind: 'look' });
      assert.deepEqual(team.members['bob']?.accounts, [{ endpoint: 'root/irc:irc~a' }]);
      const item = await readItem(room.core.reader, 'web-2');
      assert.deepEqual(
        [item?.title, item?.blockers[0]?.reason, item?.comments.map(({ text }) => text)],
        ['Home page', undefined, ['noted by ann']],
      );
      const bytes = bytesOf(room);
      for (const words of ['bob-at-home', SECRET, 'waiting for Xavier']) assert.ok(!bytes.includes(words), words);
      assert.ok(bytes.includes('noted by ann'));
      assert.deepEqual(await erased(room, { member: 'bob' }), { streams: 0, events: 0 });
    });

    for (const cut of ['before', 'after'] as const)
      it(`of a member is ended by the same command after a kill ${cut} the commit of its second unit`, async (t) => {
        let where: typeof cut | undefined;
        const room = await roomOf(t, { cut: () => where });
        const items = 120; // three units
        for (let item = 1; item <= items; item += 1) {
          await room.do(ann, { kind: 'new', board: 'web', title: `Item ${item}` });
          await room.do(bob, { kind: 'comment', item: `web-${item}`, text: `${SECRET} ${item}` });
        }
        const commit = room.workroom.store.bind(room.workroom);
        let units = 0;
        room.workroom.store = (storing) => {
          units += 1;
          if (units === 2) where = cut;
          return commit(storing);
        };
        await assert.rejects(erased(room, { member: 'bob' }), /cut/);
        where = undefined;
        await room.journal.settled(); // a filer of this process would go on beside the next one
        room.kill();
        assert.ok(bytesOf(room).includes(SECRET));

        const again = await openRoom(t, { store, path: dirname(dirname(room.file)), sealedBytes: SEALED_BYTES });
        assert.deepEqual(again.verify().faults, []);
        const left = cut === 'before' ? 70 : 20;
        assert.deepEqual(await erased(again, { member: 'bob' }), { streams: left, events: left });
        assert.deepEqual(again.verify().faults, []);
        assert.ok(!bytesOf(again).includes(SECRET));
        assert.deepEqual(await erased(again, { member: 'bob' }), { streams: 0, events: 0 });
      });

    it('is told by an event that names the numbers, and nothing else explains a missing text', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      await erased(room, { item: 'web-1' });
      const events = await room.journal.slice({ after: 0, limit: 100, stream: 'item/web-1' });
      const event = events.at(-1);
      const seqs = events.slice(0, -1).map(({ seq }) => seq);
      assert.equal(event?.kind, 'text.erased');
      assert.deepEqual([event?.stream, event?.actor], ['item/web-1', 'token:operator']);
      assert.deepEqual(JSON.parse(event?.data ?? ''), { seqs });

      const created = await room.journal.slice({ after: 0, limit: 1, stream: 'item/web-2' });
      await takeWords(room, created[0]);
      const [fault, ...others] = room.verify().faults;
      assert.deepEqual([fault?.fault, fault?.stream, others], ['text_missing', 'item/web-2', []]);
    });

    it('is refused on a damaged stream and for an unknown item or member, and changes nothing', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      const { head } = room.verify();
      await assert.rejects(erased(room, { item: 'web-9' }), /there is no item web-9/);
      await assert.rejects(erased(room, { member: 'zoe' }), /there is no member zoe/);
      withFile(room.file, (database) =>
        database.exec("UPDATE workroom_catalog SET quarantined = 1 WHERE stream = 'item/web-1'"),
      );
      await assert.rejects(erased(room, { item: 'web-1' }), /has a damaged event and takes no command/);
      assert.deepEqual(room.verify().head, head);
    });

    it('loses no word that others write meanwhile, and quarantines nothing while a proof goes on', async (t) => {
      const room = await roomOf(t);
      await fill(room);
      const [proof] = await Promise.all([
        scrub(room.core, room.journal),
        erased(room, { item: 'web-1' }),
        ...Array.from({ length: 5 }, (_, index) =>
          room.do(ann, { kind: 'comment', item: 'web-1', text: `remark ${index}` }),
        ),
      ]);
      assert.deepEqual(proof.faults, []);
      assert.deepEqual(room.verify().faults, []);
      const item = await readItem(room.core.reader, 'web-1');
      assert.deepEqual(item?.comments.map(({ text }) => text).toSorted(), [
        ...Array.from({ length: 5 }, (_, index) => `remark ${index}`),
        undefined,
      ]);
    });
  });

/** As somebody does who is no svc. */
async function takeWords({ core, file, files, journal }: Room, event: WorkroomEventsTable | undefined): Promise<void> {
  assert.ok(event);
  const { seq } = event;
  if (journal.store === 'database')
    return withFile(file, (database) => {
      database.exec(`UPDATE workroom_events SET texts = NULL WHERE seq = ${seq}`);
    });
  const place = await core.reader.first(sql.selectFrom('workroom_places').select('segment').where('seq', '=', seq));
  const path = join(files.folder, segmentName(place?.segment ?? 0));
  writeFileSync(path, (await withoutTexts({ first: 0, path }, new Set([seq]))).content);
}

describe('erasing words without the events', () => {
  it('is refused where the events are not in the database, and tells so', async (t) => {
    const room = await teamRoom(t);
    await fill(room);
    withFile(room.file, (database) => {
      database.exec('DROP TRIGGER workroom_events_kept');
      database.exec('DELETE FROM workroom_events');
    });
    await assert.rejects(erased(room, { item: 'web-1' }), /the events of item\/web-1 are not all in the journal/);
    await assert.rejects(erased(room, { member: 'bob' }), /the events of team are not all in the journal/);
  });
});
