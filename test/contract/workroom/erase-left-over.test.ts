// A conversion that was killed leaves the other store behind. An erasure takes it away first: erased words stay nowhere.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { convert } from '../../../worker/workroom/convert.ts';
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

const SECRET = 'the key lies below the mat';
const other = (store: JournalStore): JournalStore => (store === 'file' ? 'database' : 'file');
const again = (t: Cleanup, room: Room, store: JournalStore): Promise<Room> =>
  openRoom(t, { store, path: dirname(dirname(room.file)) });

const placeOf = ({ core, files: { folder, catalogFile } }: Room) => ({
  core,
  folder,
  catalogFile,
  reminding: SETTINGS,
});

async function filled(t: Cleanup, store: JournalStore): Promise<Room> {
  const room = await teamRoom(t, { store });
  await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'Flat' });
  await room.do(person('ann'), { kind: 'comment', item: 'web-1', text: SECRET });
  return room;
}

/** A conversion that ends at this point. Returns the room of the next start. */
async function cutConversion(t: Cleanup, room: Room, point: string): Promise<Room> {
  const { store } = room.journal;
  room.kill();
  const mover = await again(t, room, store);
  const cut = (name: string): void => {
    if (name === `workroom.convert.${point}`) throw new Error('cut');
  };
  await assert.rejects(convert({ ...placeOf(mover), core: { ...mover.core, point: cut } }, other(store)), /cut/);
  mover.kill();
  return again(t, room, point === 'moved' ? other(store) : store);
}

const erased = ({ core, workroom, journal, files }: Room) =>
  erase(
    {
      core,
      workroom,
      journal: erasableOf(journal, { core, ...files }),
      actor: OPERATOR,
      command: { id: 'erase-1', cause: null },
    },
    { item: 'web-1' },
  );

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** Files of the state that hold the words, after everything of the log was copied into the database. */
function withWords({ file }: Room): readonly string[] {
  withFile(file, (database) => database.pragma('wal_checkpoint(TRUNCATE)'));
  return filesBelow(dirname(file)).filter((path) => readFileSync(path, 'latin1').includes(SECRET));
}

describe('an erasure after a conversion that was killed', () => {
  for (const store of STORES)
    for (const point of store === 'database' ? ['written', 'renamed', 'moved'] : ['written', 'moved'])
      it(`from the ${store} store at the point "${point}" leaves the words nowhere`, async (t) => {
        const room = await cutConversion(t, await filled(t, store), point);
        await room.do(person('ann'), { kind: 'comment', item: 'web-1', text: `${SECRET}, since then` });
        assert.ok(withWords(room).length > 0);
        await erased(room);

        assert.deepEqual(withWords(room), []);
        assert.deepEqual(room.verify().faults, []);
        const { folder } = room.files;
        assert.deepEqual([existsSync(`${folder}.part`), existsSync(folder)], [false, room.journal.store === 'file']);
        if (room.journal.store === 'database') return;
        await assert.rejects(
          async () => withFile(room.file, (database) => database.exec('INSERT INTO workroom_events (seq) VALUES (1)')),
          /the journal of this Workroom is in files/,
        );
      });

  it('is refused, and erases nothing, where the files hold what the database has not', async (t) => {
    const [room, foreign] = [await filled(t, 'database'), await filled(t, 'file')];
    await foreign.close();
    cpSync(foreign.files.folder, room.files.folder, { recursive: true });

    await assert.rejects(erased(room), {
      code: 'refused',
      message: `${room.files.folder} is not the journal of this Workroom, which is in the database`,
    });
    await assert.rejects(convert(placeOf(room), 'file'), { code: 'refused' });
    assert.equal((await readItem(room.core.reader, 'web-1'))?.title, 'Flat');
    assert.deepEqual(readdirSync(room.files.folder), readdirSync(foreign.files.folder));
  });
});

describe('a conversion to the store that the journal is in', () => {
  for (const store of STORES)
    it(`takes away what a killed one has left beside the ${store} store`, async (t) => {
      const room = await cutConversion(t, await filled(t, store), store === 'database' ? 'renamed' : 'written');
      const { head } = room.verify();
      assert.deepEqual(await convert(placeOf(room), store), { head, hasMoved: false });

      const rows = withFile(room.file, (database) =>
        database.prepare('SELECT count(*) FROM workroom_events').pluck().get(),
      );
      assert.deepEqual([rows, existsSync(room.files.folder)], store === 'file' ? [0, true] : [head.seq, false]);
    });
});
