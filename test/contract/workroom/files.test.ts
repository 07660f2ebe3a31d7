// The journal of the Workroom in files: what a start finds after a kill or a fault, and what a proof finds of each byte.
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { WorkroomEventsTable } from '../../../worker/database/tables.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import { openFiles } from '../../../worker/workroom/files/open-files.ts';
import { firstOf } from '../../../worker/workroom/files/record.ts';
import { SegmentWriter } from '../../../worker/workroom/files/segment-writer.ts';
import { listSegments } from '../../../worker/workroom/files/segments.ts';
import { verifyDatabase } from '../../../worker/workroom/journal/verify-database.ts';
import { readView } from '../../../worker/workroom/read-catalog.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';
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
const SMALL_BYTES = 1_500;

const fileRoom = (t: Cleanup, options: RoomOptions = {}): Promise<Room> => teamRoom(t, { ...options, store: 'file' });
const again = (t: Cleanup, room: Room, options: RoomOptions = {}): Promise<Room> =>
  openRoom(t, { ...options, store: 'file', path: dirname(dirname(room.file)) });
const newItem = { kind: 'new', board: 'web', title: 'Home page' } as const;
const segmentsOf = ({ files: { folder } }: Room): readonly string[] => listSegments(folder).map(({ path }) => path);
const lastSegment = (room: Room): string => segmentsOf(room).at(-1) ?? '';
const all = (room: Room): Promise<readonly WorkroomEventsTable[]> => room.journal.slice({ after: 0, limit: 1_000 });
const waiting = (room: Room): unknown =>
  withFile(room.file, (database) => database.prepare('SELECT count(*) FROM workroom_spool').pluck().get());

describe('files of the journal', () => {
  it('hold every event when a command is answered, and nothing stays in the spool after a stop', async (t) => {
    const room = await fileRoom(t);
    assert.equal((await room.do(ann, newItem)).kind, 'accepted');
    const lines = readFileSync(lastSegment(room), 'utf8').trimEnd().split('\n');
    const events = await all(room);
    assert.equal(lines.length, 1 + events.length);
    assert.match(
      lines[0] ?? '',
      /^\{"svc":"workroom-journal","version":1,"project":"[^"]+","first":1,"prev":"[0-9a-f]{64}"\}$/,
    );
    await room.close();
    assert.equal(waiting(room), 0);
    const { appliedSeq } = JSON.parse(readFileSync(room.files.catalogFile, 'utf8')) as { appliedSeq: number };
    assert.equal(appliedSeq, events.length);
    assert.deepEqual(room.verify().faults, []);
  });

  it('follow the unit of a chat, which does not wait for them', async (t) => {
    const room = await fileRoom(t);
    const view = await readView(room.core.reader, newItem);
    const planned = room.workroom.plan(view, newItem, { actor: ann, command: { id: 'chat', cause: null } });
    const statements = [...planned.statements, ...recordEvents(planned.events)];
    await room.core.writer.commit({ name: 'effects', statements });
    const isFiled = (): boolean => readFileSync(lastSegment(room), 'utf8').includes('"id":"chat/1"');
    while (!isFiled()) await new Promise((resolve) => setImmediate(resolve));
    await room.close();
    assert.equal(waiting(room), 0);
  });

  it('are followed by the catalog file after five seconds, in one piece', async (t) => {
    const room = await openRoom(t, { store: 'file' });
    const applied = (): number =>
      (JSON.parse(readFileSync(room.files.catalogFile, 'utf8')) as { appliedSeq: number }).appliedSeq;
    await room.do(OPERATOR, { kind: 'board.add', board: 'web', name: 'Web site' });
    await room.do(OPERATOR, newItem);
    room.clock.moveTo(room.clock.now() + 4_999);
    assert.equal(applied(), 0);
    assert.deepEqual(room.verify().faults, []);
    room.clock.moveTo(room.clock.now() + 1);
    while (applied() !== 2) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(room.verify().faults, []);
  });

  it('begin a segment where the last one is full, and read on over it', async (t) => {
    const room = await fileRoom(t, { sealedBytes: SMALL_BYTES });
    await room.do(ann, newItem);
    assert.ok(segmentsOf(room).length > 2);
    assert.deepEqual(
      (await all(room)).map(({ seq }) => seq),
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
    await room.close();
    const opened = await again(t, room, { sealedBytes: SMALL_BYTES });
    await opened.do(ann, newItem);
    assert.deepEqual(opened.verify().faults, []);
    assert.equal((await all(opened)).length, 11);
  });

  it('cut a last line at each of its bytes, keep it beside, and complete it from the spool', async (t) => {
    const room = await fileRoom(t);
    const before = readFileSync(lastSegment(room)).length;
    await room.do(ann, newItem);
    await room.close();
    const whole = readFileSync(lastSegment(room));
    const events = await all(await again(t, room));
    const last = events.at(-1);
    assert.ok(last);
    const folder = join(temporaryProject(t).path, 'journal');
    const name = lastSegment(room).split('/').at(-1) ?? '';
    for (let bytes = before; bytes < whole.length; bytes += 1) {
      rmSync(folder, { recursive: true, force: true });
      cpSync(room.files.folder, folder, { recursive: true });
      truncateSync(join(folder, name), bytes);
      const project = room.core.projectId;
      const head = { seq: last.seq, hash: last.hash };
      const { tail, holdMore } = openFiles({ folder, project, head, spool: [last] });
      assert.deepEqual([tail.seq, tail.segment?.bytes, holdMore], [last.seq - 1, before, false], `byte ${bytes}`);
      const torn = join(folder, `${name}.torn`);
      if (bytes === before) assert.equal(existsSync(torn), false);
      else assert.deepEqual(readFileSync(torn), whole.subarray(before, bytes));
      if (bytes % 40 > 0) continue;
      const writer = new SegmentWriter({ folder, project }, tail);
      await writer.append([last]);
      await writer.close();
      assert.deepEqual(readFileSync(join(folder, name)), whole);
    }
  });

  it('are completed after a start that died between commit and append', async (t) => {
    const dead = { is: false };
    const room = await fileRoom(t, { point: (name) => (dead.is && name === 'workroom.append' ? never() : undefined) });
    dead.is = true;
    void room.do(ann, newItem);
    await committed(room, 10);
    room.kill();
    const opened = await again(t, room);
    assert.equal(waiting(opened), 0);
    assert.deepEqual(opened.verify().faults, []);
    assert.equal((await all(opened)).length, 10);
  });

  it('are known by seq and hash after a start that died between sync and spool', async (t) => {
    const dead = { is: false };
    const room = await fileRoom(t, { point: (name) => (dead.is && name === 'workroom.synced' ? never() : undefined) });
    dead.is = true;
    void room.do(ann, newItem);
    const whole = (): boolean => readFileSync(lastSegment(room), 'utf8').includes('item.created');
    while (!whole()) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(waiting(room), 1);
    room.kill();
    const inode = inodesOf(room);
    const opened = await again(t, room);
    assert.equal(waiting(opened), 0);
    assert.notDeepEqual(inodesOf(room), inode, 'nobody knows whether it was synced: it is written anew');
    assert.deepEqual(opened.verify().faults, []);
    assert.equal((await all(opened)).length, 10);
  });

  it('take commands again once the disk does, where it took no writes at the start', async (t) => {
    const dead = { is: false };
    const point = (name: string): Promise<void> | undefined =>
      dead.is && name === 'workroom.append' ? new Promise(() => {}) : undefined;
    const room = await teamRoom(t, { store: 'file', point });
    dead.is = true;
    void room.do(ann, { kind: 'new', board: 'web', title: 'Home page' });
    const inSpool = (): number =>
      withFile(room.file, (database) => Number(database.prepare('SELECT count(*) FROM workroom_spool').pluck().get()));
    await until(() => inSpool() > 0, { what: 'the event in the spool' });
    room.kill();
    let faults = 1;
    const next = await openRoom(t, {
      path: dirname(dirname(room.file)),
      store: 'file',
      point: (name) => {
        if (name !== 'workroom.sync' || faults === 0) return undefined;
        faults -= 1;
        throw Object.assign(new Error('EIO'), { code: 'EIO' });
      },
    });
    assert.match(next.journal.damage?.message ?? '', /take no writes/);

    const tried = (): boolean => {
      next.clock.moveTo(next.clock.now() + 1_000);
      return next.journal.damage === undefined;
    };
    await until(tried, { what: 'the next try' });

    assert.equal((await next.do(ann, { kind: 'new', board: 'web', title: 'Again' })).kind, 'accepted');
    assert.deepEqual(next.verify().faults, []);
  });

  it('give no answer after a failed sync, and are written anew before anything is appended', async (t) => {
    const faults = { left: 0 };
    const room = await fileRoom(t, {
      point(name) {
        if (name !== 'workroom.sync' || faults.left === 0) return;
        faults.left -= 1;
        throw Object.assign(new Error('EIO'), { code: 'EIO' });
      },
    });
    const inode = inodesOf(room);
    faults.left = 1;
    await assert.rejects(room.do(ann, newItem, 'once'), { code: 'journal_damaged' });
    await assert.rejects(room.do(ann, newItem, 'other'), { code: 'journal_damaged' });
    room.clock.moveTo(room.clock.now() + 1_000);
    while (room.journal.damage !== undefined) await new Promise((resolve) => setImmediate(resolve));
    assert.notDeepEqual(inodesOf(room), inode);
    const answer = await room.do(ann, newItem, 'once');
    assert.deepEqual(answer, { kind: 'accepted', stream: 'item/web-1', item: 'web-1', version: 1, state: 'open' });
    assert.deepEqual(room.verify().faults, []);
    assert.equal((await all(room)).length, 10);
  });

  it('take no command where another program wrote to them', async (t) => {
    const room = await fileRoom(t);
    writeFileSync(lastSegment(room), 'x', { flag: 'a' });
    await assert.rejects(room.do(ann, newItem), { code: 'journal_damaged' });
    assert.ok(readFileSync(lastSegment(room), 'utf8').endsWith('\nx'));
  });

  const LOSSES: Readonly<Record<string, (room: Room) => void>> = {
    'are gone': (room) => rmSync(room.files.folder, { recursive: true }),
    'are shorter than the database knows': (room) =>
      truncateSync(lastSegment(room), readFileSync(lastSegment(room)).length - 1),
    'lack their last segment': (room) => rmSync(lastSegment(room)),
    'belong to another project': (room) => {
      const text = readFileSync(lastSegment(room), 'utf8');
      writeFileSync(lastSegment(room), text.replace(room.core.projectId, 'x'.repeat(room.core.projectId.length)));
    },
    'were changed at their end': (room) => {
      const text = readFileSync(lastSegment(room), 'utf8');
      writeFileSync(lastSegment(room), text.replace(/.(?=\n$)/, 'x'));
    },
  };
  for (const [what, change] of Object.entries(LOSSES))
    it(`that ${what} take no command, and nothing is cut or made`, async (t) => {
      const room = await fileRoom(t, { sealedBytes: SMALL_BYTES });
      await room.close();
      change(room);
      const before = contentOf(room.files.folder);
      const opened = await again(t, room);
      assert.equal(opened.journal.damage?.code, 'journal_damaged');
      await assert.rejects(opened.do(ann, newItem), { code: 'journal_damaged' });
      await opened.close();
      assert.deepEqual(contentOf(room.files.folder), before);
    });

  it('make a segment anew whose header is not whole', async (t) => {
    const room = await fileRoom(t);
    await room.close();
    writeFileSync(join(room.files.folder, '00000000000000000010.wjl'), '{"svc":"workroom-jour');
    const opened = await again(t, room);
    assert.equal(opened.journal.damage, undefined);
    await opened.do(ann, newItem);
    assert.deepEqual(opened.verify().faults, []);
  });

  for (const what of ['older', 'gone'] as const)
    it(`are right where the database is ${what}: it is rebuilt from them, and says so`, async (t) => {
      const room = await fileRoom(t);
      await room.close();
      const copy = `${room.file}.copy`;
      renameSync(room.file, copy);
      cpSync(copy, room.file);
      const later = await again(t, room);
      await later.do(ann, { ...newItem, assign: 'bob' });
      await later.do(ann, newItem);
      await later.close();
      const { head } = later.verify();
      for (const name of readdirSync(dirname(room.file)))
        if (name.startsWith('data.sqlite') && name !== 'data.sqlite.copy') rmSync(join(dirname(room.file), name));
      if (what === 'older') renameSync(copy, room.file);
      const opened = await again(t, room);
      assert.deepEqual(opened.verify(), { head, faults: [] });
      assert.equal(opened.core.projectId, room.core.projectId);
      const changes = withFile(room.file, (database) =>
        database.prepare("SELECT data FROM event_log WHERE type = 'workroom.board_changed'").pluck().all(),
      );
      assert.match(String(changes.at(-1)), /"change":"rebuilt"/);
      const outcome = await opened.do(OPERATOR, newItem);
      assert.equal(outcome.kind === 'accepted' && outcome.item, 'web-3');
      assert.deepEqual(opened.verify().faults, []);
    });
});

describe('tampering with the files of the journal', () => {
  it('is found at each byte of each file, with the event that it damages', async (t) => {
    const room = await openRoom(t, { store: 'file', sealedBytes: SMALL_BYTES / 2 });
    await room.do(OPERATOR, { kind: 'board.add', board: 'web', name: 'Web site' });
    await room.do(OPERATOR, { kind: 'member.add', member: 'ann' });
    await room.do(OPERATOR, newItem);
    await room.close();
    const files = { ...room.files, isLive: false };
    assert.equal(segmentsOf(room).length, 2);
    withFile(room.file, (database) => {
      for (const path of [...segmentsOf(room), files.catalogFile]) {
        const whole = readFileSync(path);
        const lines = lineStarts(whole, path);
        for (let at = 0; at < whole.length; at += 1) {
          const changed = Buffer.from(whole);
          changed[at] = (whole[at] ?? 0) ^ 1;
          writeFileSync(path, changed);
          const { faults } = verifyDatabase(database, undefined, files);
          const where = `${path} byte ${at}`;
          const line = lines.findLast(({ start }) => start <= at);
          if (line === undefined) assert.equal(faults[0]?.fault, 'catalog_differs', where);
          else
            assert.ok(
              faults.some(({ seq }) => seq === line.seq),
              where,
            );
        }
        writeFileSync(path, whole);
      }
      assert.deepEqual(verifyDatabase(database, undefined, files).faults, []);
    });
  });

  it('is found where a line is taken out, two change places, or the end is cut', async (t) => {
    const room = await fileRoom(t);
    await room.close();
    const [path = ''] = segmentsOf(room);
    const files = { ...room.files, isLive: false };
    const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
    const [header = '', ...events] = lines;
    const streams = (await all(await again(t, room))).map(({ stream }) => stream);
    const found = (text: string): unknown => {
      writeFileSync(path, text);
      const [first] = withFile(room.file, (database) => verifyDatabase(database, undefined, files)).faults;
      return first && [first.fault, first.seq, first.stream];
    };
    for (const [index] of events.entries()) {
      const isLast = index === events.length - 1;
      const without = events.filter((_, at) => at !== index);
      assert.deepEqual(found(header + without.join('')), [isLast ? 'truncated' : 'missing', index + 1, null]);
      if (isLast) continue;
      const swapped = events.toSpliced(index, 2, events[index + 1] ?? '', events[index] ?? '');
      assert.deepEqual(found(header + swapped.join('')), ['reordered', index + 1, streams[index]]);
      assert.deepEqual(found(header + events.slice(0, index + 1).join('')), ['truncated', index + 2, null]);
    }
    const whole = lines.join('');
    for (let bytes = whole.length - (events.at(-1) ?? '').length; bytes < whole.length; bytes += 1)
      assert.deepEqual(found(whole.slice(0, bytes)), ['truncated', events.length, null], `byte ${bytes}`);
    assert.equal(found(whole), undefined);
  });

  it('quarantines the stream of the event, and leaves the others', async (t) => {
    const room = await fileRoom(t);
    await room.do(ann, newItem);
    await room.do(ann, newItem);
    const path = lastSegment(room);
    const text = readFileSync(path, 'utf8');
    const at = text.indexOf('Home page');
    writeFileSync(path, `${text.slice(0, at)}Gone${text.slice(at + 4)}`);
    const { scrub } = await import('../../../worker/workroom/journal/scrub.ts');
    const { faults } = await scrub(room.core, room.journal);
    assert.deepEqual(faults, [{ fault: 'changed', seq: 10, stream: 'item/web-1' }]);
    const refused = await room.do(ann, { kind: 'comment', item: 'web-1', text: 'words' });
    assert.equal(refused.kind === 'refused' && refused.code, 'stream_quarantined');
    assert.equal((await room.do(ann, { kind: 'comment', item: 'web-2', text: 'words' })).kind, 'accepted');
  });
});

const never = (): Promise<void> => new Promise(() => {});

async function committed(room: Room, seq: number): Promise<void> {
  const head = (): unknown =>
    withFile(room.file, (database) => database.prepare('SELECT seq FROM workroom_head').pluck().get());
  while (head() !== seq) await new Promise((resolve) => setImmediate(resolve));
}

const contentOf = (folder: string): readonly (readonly [string, string])[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]) : [];

const inodesOf = (room: Room): readonly string[] => segmentsOf(room).map((path) => String(statSync(path).ino));

interface Line {
  readonly start: number;
  /** The event that it holds, or that a header comes before. */
  readonly seq: number;
  readonly isHeader: boolean;
}

function lineStarts(content: Buffer, path: string): readonly Line[] {
  const first = firstOf(path.split('/').at(-1) ?? '');
  if (first === undefined) return [];
  const lines: Line[] = [{ start: 0, seq: first, isHeader: true }];
  for (let at = content.indexOf(10); at >= 0 && at + 1 < content.length; at = content.indexOf(10, at + 1))
    lines.push({ start: at + 1, seq: first + lines.length - 1, isHeader: false });
  return lines;
}
