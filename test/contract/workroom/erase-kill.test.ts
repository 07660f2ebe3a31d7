// A kill at each step of an erasure in files: words that are still there have their event, and the next start takes them out. Proofs take both.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { erasableOf, erase } from '../../../worker/workroom/erase.ts';
import { verifyDatabase } from '../../../worker/workroom/journal/verify-database.ts';
import { readItem } from '../../../worker/workroom/read-catalog.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import {
  OPERATOR,
  openRoom,
  person,
  type Room,
  type RoomOptions,
  teamRoom,
  withFile,
} from '../../support/workroom/room.ts';

const ann = person('ann');
const SECRET = 'the key lies below the mat';
const SMALL_BYTES = 1_500;
const LARGE_BYTES = 1_000_000;

async function fill(room: Room): Promise<void> {
  await room.do(ann, { kind: 'new', board: 'web', title: SECRET });
  await room.do(ann, { kind: 'new', board: 'web', title: 'Home page' });
  for (let round = 0; round < 3; round += 1) {
    await room.do(ann, { kind: 'comment', item: 'web-1', text: `${SECRET} ${round}` });
    await room.do(ann, { kind: 'comment', item: 'web-2', text: `remark ${round}` });
  }
}

const erased = ({ core, workroom, journal, files }: Room, id: string) =>
  erase(
    { core, workroom, journal: erasableOf(journal, { core, ...files }), actor: OPERATOR, command: { id, cause: null } },
    { item: 'web-1' },
  );

const again = (t: Cleanup, room: Room, options: RoomOptions = {}): Promise<Room> =>
  openRoom(t, { ...options, store: 'file', path: dirname(dirname(room.file)) });

const hasSecret = ({ files: { folder, catalogFile } }: Room): boolean =>
  [catalogFile, ...readdirSync(folder).map((name) => join(folder, name))].some((path) =>
    readFileSync(path, 'utf8').includes(SECRET),
  );
const faultsOf = ({ file, files }: Room, isLive: boolean): unknown =>
  withFile(file, (database) => verifyDatabase(database, undefined, { ...files, isLive })).faults;
const notes = ({ file }: Room): unknown =>
  withFile(file, (database) =>
    database.prepare("SELECT count(*) FROM meta WHERE key LIKE 'workroom_erasing/%'").pluck().get(),
  );
const never = (): Promise<void> => new Promise(() => {});

function gate() {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A point that never returns at its pass, once it is armed. */
function deadly(point: string, pass: number) {
  const reached = gate();
  let left = Number.POSITIVE_INFINITY;
  return {
    reached: reached.promise,
    arm: () => {
      left = pass;
    },
    point: (name: string) => {
      if (name !== point) return;
      left -= 1;
      if (left !== 0) return;
      reached.resolve();
      return never();
    },
  };
}

async function assertErased(room: Room): Promise<void> {
  assert.equal(room.journal.damage, undefined);
  assert.equal((await readItem(room.core.reader, 'web-1'))?.title, undefined);
  assert.equal(hasSecret(room), false);
  assert.equal(notes(room), 0);
  assert.deepEqual(
    readdirSync(room.files.folder).filter((name) => !name.endsWith('.wjl')),
    [],
  );
  const before = await room.journal.slice({ after: 0, limit: 1_000 });
  assert.deepEqual(
    before.map(({ seq }) => seq),
    before.map((_, index) => index + 1),
  );
  assert.equal(before.filter(({ kind }) => kind === 'text.erased').length, 1);
  await room.do(ann, { kind: 'comment', item: 'web-2', text: 'goes on' });
  assert.deepEqual(room.verify().faults, []);
  await room.close();
  assert.deepEqual(faultsOf(room, false), []);
}

const KILLS: readonly (readonly [point: string, pass: number])[] = [
  ['workroom.append', 1],
  ['workroom.half', 1],
  ['workroom.sync', 1],
  ['workroom.synced', 1],
  ['workroom.erase', 1],
  ['workroom.erase.written', 1],
  ['workroom.erase.renamed', 1],
  ['workroom.erase.placed', 1],
];

describe('a kill while words are erased in files', () => {
  for (const sealedBytes of [SMALL_BYTES, LARGE_BYTES])
    for (const [point, pass] of [
      ...KILLS,
      ...(sealedBytes === SMALL_BYTES ? ([['workroom.erase.renamed', 3]] as const) : []),
    ])
      it(`at ${point}, pass ${pass}, leaves words with their event, with segments of ${sealedBytes} bytes`, async (t) => {
        const kill = deadly(point, pass);
        const room = await teamRoom(t, { store: 'file', sealedBytes, point: kill.point });
        await fill(room);
        kill.arm();
        void erased(room, 'erase-1').catch(() => {}); // the reader is closed below
        await kill.reached;
        assert.deepEqual(faultsOf(room, true), []);
        room.kill();
        assert.deepEqual(faultsOf(room, false), []);
        await assertErased(await again(t, room, { sealedBytes }));
      });

  for (const cut of ['before', 'after'] as const)
    it(`${cut} the commit leaves all words, or the next start takes them out`, async (t) => {
      let where: typeof cut | undefined;
      const room = await teamRoom(t, { store: 'file', cut: () => where });
      await fill(room);
      where = cut;
      await assert.rejects(erased(room, 'erase-1'));
      await room.journal.settled(); // a filer of this process would go on beside the next one
      room.kill();
      assert.deepEqual(faultsOf(room, false), []);
      const opened = await again(t, room);
      if (cut === 'after') return assertErased(opened);
      assert.equal((await readItem(opened.core.reader, 'web-1'))?.title, SECRET);
      assert.deepEqual(opened.verify().faults, []);
    });

  for (const what of ['gone', 'older'] as const)
    for (const point of ['workroom.erase', 'workroom.erase.renamed'])
      it(`at ${point} is ended where the database is ${what} at the next start`, async (t) => {
        const kill = deadly(point, 1);
        const room = await teamRoom(t, { store: 'file', sealedBytes: LARGE_BYTES, point: kill.point });
        await fill(room);
        const copy = `${room.file}.copy`;
        withFile(room.file, (database) => database.exec(`VACUUM INTO '${copy}'`));
        kill.arm();
        void erased(room, 'erase-1').catch(() => {});
        await kill.reached;
        room.kill();
        for (const name of readdirSync(dirname(room.file)))
          if (name.startsWith('data.sqlite') && !name.endsWith('.copy')) rmSync(join(dirname(room.file), name));
        if (what === 'older') cpSync(copy, room.file);
        await assertErased(await again(t, room, { sealedBytes: LARGE_BYTES }));
      });
});

describe('an erasure in files', () => {
  it('that failed at the disk is ended by the same command again', async (t) => {
    let fails = 0;
    const point = (name: string): void => {
      if (name !== 'workroom.erase.written' || fails === 0) return;
      fails -= 1;
      throw new Error('no space left');
    };
    const room = await teamRoom(t, { store: 'file', point });
    await fill(room);
    fails = 1;
    await assert.rejects(erased(room, 'erase-1'), /words are erased, and still in the files: no space left/);
    assert.deepEqual(room.verify().faults, []);
    assert.equal((await room.do(ann, { kind: 'comment', item: 'web-2', text: 'meanwhile' })).kind, 'accepted');
    assert.equal(hasSecret(room), true);
    assert.deepEqual(await erased(room, 'erase-2'), { streams: 0, events: 0 });
    await assertErased(room);
  });

  it('is no fault for a proof that read the database and the catalog before it', async (t) => {
    const room = await teamRoom(t, { store: 'file', sealedBytes: SMALL_BYTES });
    await fill(room);
    await room.close();
    const opened = await again(t, room, { sealedBytes: SMALL_BYTES });
    const copies = { file: `${room.file}.copy`, catalogFile: `${room.files.catalogFile}.copy` };
    withFile(room.file, (database) => database.exec(`VACUUM INTO '${copies.file}'`));
    cpSync(room.files.catalogFile, copies.catalogFile);
    await erased(opened, 'erase-1');
    const files = { ...opened.files, catalogFile: copies.catalogFile };
    assert.deepEqual(faultsOf({ ...opened, file: copies.file, files }, true), []);
    await assertErased(opened);
  });

  it('holds appends and readers while the last segment is written anew, and loses none', async (t) => {
    const held = gate();
    const reached = gate();
    let isArmed = false;
    const point = (name: string): Promise<void> | undefined => {
      if (!isArmed || name !== 'workroom.erase.renamed') return undefined;
      reached.resolve();
      return held.promise;
    };
    const room = await teamRoom(t, { store: 'file', point });
    await fill(room);
    isArmed = true;
    const erasing = erased(room, 'erase-1');
    await reached.promise;
    const comments = Promise.all(
      ['one', 'two', 'three'].map((text) => room.do(ann, { kind: 'comment', item: 'web-2', text })),
    );
    const reading = room.journal.slice({ after: 0, limit: 1_000 });
    held.resolve();
    await erasing;
    assert.deepEqual(
      (await comments).map(({ kind }) => kind),
      ['accepted', 'accepted', 'accepted'],
    );
    assert.ok((await reading).every(({ texts }) => texts?.includes(SECRET) !== true));
    const events = await room.journal.slice({ after: 0, limit: 1_000, stream: 'item/web-2' });
    assert.equal(events.filter(({ texts }) => /"(one|two|three)"/.test(texts ?? '')).length, 3);
    await assertErased(room);
  });
});
