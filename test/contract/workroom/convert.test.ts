// The journal moves between its stores, and what is derived from it is made anew.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { convert, rebuildAll } from '../../../worker/workroom/convert.ts';
import { erasableOf, erase } from '../../../worker/workroom/erase.ts';
import type { JournalStore } from '../../../worker/workroom/journal/journal.ts';
import { readItem } from '../../../worker/workroom/read-catalog.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import {
  OPERATOR,
  openRoom,
  person,
  type Room,
  SETTINGS,
  STORES,
  teamRoom,
  withFile,
} from '../../support/workroom/room.ts';

const placeOf = ({ core, files: { folder, catalogFile } }: Room) => ({
  core,
  folder,
  catalogFile,
  reminding: SETTINGS,
});
const again = (t: Cleanup, room: Room, store: JournalStore): Promise<Room> =>
  openRoom(t, { store, path: dirname(dirname(room.file)) });
const other = (store: JournalStore): JournalStore => (store === 'file' ? 'database' : 'file');

async function fill(room: Room): Promise<void> {
  await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One', assign: 'bob' }, 'first');
  await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'Two' });
  const needs = { kind: 'block', item: 'web-2', blocker: 'dependency', needs: 'web-1', reason: 'after it' } as const;
  await room.do(person('ann'), needs);
}

const DERIVED = ['workroom_catalog', 'workroom_needs', 'workroom_head'];
const derivedIn = (room: Room): unknown =>
  withFile(room.file, (database) => [
    ...DERIVED.map((table) => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()),
    database.prepare("SELECT id, kind, at, data FROM due WHERE kind = 'workroom' ORDER BY id").all(),
  ]);

for (const store of STORES)
  describe(`a journal in the ${store} store`, () => {
    it('moves without the words that were erased', async (t) => {
      let room = await teamRoom(t, { store });
      await fill(room);
      const { core, workroom, journal, files } = room;
      const command = { id: 'erase-1', cause: null };
      await erase(
        { core, workroom, journal: erasableOf(journal, { core, ...files }), actor: OPERATOR, command },
        { item: 'web-1' },
      );
      for (const to of [other(store), store]) {
        await room.close();
        const mover = await again(t, room, other(to));
        await convert(placeOf(mover), to);
        mover.kill();
        room = await again(t, room, to);
        assert.deepEqual(room.verify().faults, []);
        const events = await room.journal.slice({ after: 0, limit: 100, stream: 'item/web-1' });
        assert.deepEqual(
          events.map(({ kind, texts }) => [kind, texts]).filter(([, texts]) => texts !== null),
          [],
        );
        assert.equal((await readItem(room.core.reader, 'web-1'))?.title, undefined);
        assert.equal((await readItem(room.core.reader, 'web-2'))?.title, 'Two');
      }
    });

    it('moves to the other store and back with its head, its board and its command ids', async (t) => {
      let room = await teamRoom(t, { store });
      await fill(room);
      const { head } = room.verify();
      const events = await room.journal.slice({ after: 0, limit: 100 });
      for (const to of [other(store), store]) {
        const before = derivedIn(room);
        room.kill();
        const mover = await again(t, room, other(to));
        const moved = await convert(placeOf(mover), to);
        assert.deepEqual(moved, { head, hasMoved: true });
        mover.kill();
        room = await again(t, room, to);
        assert.deepEqual(room.verify(), { head, faults: [] });
        assert.deepEqual(derivedIn(room), before);
        assert.deepEqual(await room.journal.slice({ after: 0, limit: 100 }), events);
        assert.equal(existsSync(room.files.folder), to === 'file');
        const same = await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One', assign: 'bob' }, 'first');
        assert.equal(same.kind === 'accepted' && same.item, 'web-1');
      }
      assert.equal((await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'Three' })).kind, 'accepted');
      assert.deepEqual(room.verify().faults, []);
    });

    for (const point of store === 'database' ? ['written', 'renamed', 'moved'] : ['written', 'moved'])
      it(`is in one store, whole, when a move ends at the point "${point}"`, async (t) => {
        const room = await teamRoom(t, { store });
        await fill(room);
        const { head } = room.verify();
        room.kill();
        const mover = await again(t, room, store);
        const cut = (name: string): void => {
          if (name === `workroom.convert.${point}`) throw new Error('cut');
        };
        const place = { ...placeOf(mover), core: { ...mover.core, point: cut } };
        await assert.rejects(convert(place, other(store)), /cut/);
        mover.kill();
        const isIn = point === 'moved' ? other(store) : store;
        const after = await again(t, room, isIn);
        assert.deepEqual(after.verify(), { head, faults: [] });
        await after.do(OPERATOR, { kind: 'new', board: 'web', title: 'Three' });
        assert.deepEqual(after.verify().faults, []);
        const grown = after.verify().head;
        after.kill();
        const second = await again(t, room, isIn);
        await convert(placeOf(second), other(isIn));
        second.kill();
        assert.deepEqual((await again(t, room, other(isIn))).verify(), { head: grown, faults: [] });
      });

    it('makes all that is derived from it anew', async (t) => {
      const room = await teamRoom(t, { store });
      await fill(room);
      const before = derivedIn(room);
      withFile(room.file, (database) => {
        database.exec("UPDATE workroom_catalog SET state = 'done'");
        database.exec(
          "DELETE FROM workroom_needs; DELETE FROM due WHERE kind = 'workroom'; DELETE FROM workroom_places",
        );
      });
      await room.close();
      const rebuilder = await again(t, room, store);
      await rebuildAll(placeOf(rebuilder));
      rebuilder.kill();
      const after = await again(t, room, store);
      assert.deepEqual(derivedIn(after), before);
      assert.deepEqual(after.verify().faults, []);
      const places = withFile(room.file, (database) =>
        database.prepare('SELECT count(*) FROM workroom_places').pluck().get(),
      );
      assert.equal(places, store === 'file' ? 13 : 0);
    });
  });

describe('a journal with a fault in it', () => {
  it('does not move', async (t) => {
    const room = await teamRoom(t);
    withFile(room.file, (database) => {
      database.exec('DROP TRIGGER workroom_events_unchanged');
      database.exec("UPDATE workroom_events SET actor = 'x' WHERE seq = 3");
    });
    await assert.rejects(convert(placeOf(room), 'file'), { code: 'journal_damaged' });
    assert.equal(existsSync(room.files.folder), false);
  });
});
