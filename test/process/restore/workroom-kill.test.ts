// kill -9 at each step of the files of the journal, and of a move between the stores: no answered event is lost, and the journal verifies.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { readStore } from '../../../worker/workroom/open-journal.ts';
import { readHead, readItem } from '../../../worker/workroom/read-catalog.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { openRoom, type Room, withFile } from '../../support/workroom/room.ts';

const SEALED_BYTES = 1_500;
const PASSES = [1, 2, 5, 7];

let program = '';
before(async () => {
  const made = await bundlePrograms(['test/support/fixture-programs/workroom-step.ts'], { FAILPOINTS: 'true' });
  program = made.get('workroom-step') ?? '';
});

function run(args: readonly string[], failpoints = '') {
  const env = { PATH: process.env['PATH'], SVC_FAILPOINTS: failpoints };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });
  return { status, signal, lines: stdout.split('\n').filter((line) => line !== ''), stderr };
}

const opened = (t: Cleanup, path: string, store: 'file' | 'database' = 'file'): Promise<Room> =>
  openRoom(t, { path, store, sealedBytes: SEALED_BYTES });

/** The files hold every answered item, the database nothing that they lack. */
async function assertWhole(t: Cleanup, path: string, answered: readonly string[]): Promise<void> {
  const room = await opened(t, path);
  assert.deepEqual(room.verify().faults, []);
  for (const item of answered) assert.ok(await readItem(room.core.reader, item), item);
  const { seq } = await readHead(room.core.reader);
  const counts = withFile(room.file, (database) =>
    ['workroom_places', 'workroom_spool'].map((table) =>
      database.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
    ),
  );
  assert.deepEqual(counts, [seq, 0]);
  await room.close();
}

describe('a kill while the journal is written to its files', () => {
  for (const point of ['workroom.append=kill', 'workroom.half=kill', 'workroom.sync=kill', 'workroom.synced=kill'])
    it(`loses no answered event at ${point}, again and again`, async (t) => {
      const { path } = temporaryProject(t);
      const answered: string[] = [];
      for (const pass of PASSES) {
        const { signal, lines, stderr } = run(['fill', path], `${point}@${pass}`);
        assert.equal(signal, 'SIGKILL', stderr);
        answered.push(...lines);
        await assertWhole(t, path, answered);
      }
      const { status, lines, stderr } = run(['fill', path]);
      assert.equal(status, 0, stderr);
      await assertWhole(t, path, [...answered, ...lines]);
      assert.equal(new Set([...answered, ...lines]).size, answered.length + lines.length);
    });
});

describe('a kill while words are erased', () => {
  for (const point of [
    'workroom.synced=kill',
    'workroom.erase=kill',
    'workroom.erase.written=kill',
    'workroom.erase.renamed=kill',
    'workroom.erase.placed=kill',
  ])
    it(`at ${point} leaves their event with them, and the next start takes them out`, async (t) => {
      const { path } = temporaryProject(t);
      const { lines } = run(['fill', path]);
      const { signal, stderr } = run(['erase', path, 'web-1'], point);
      assert.equal(signal, 'SIGKILL', stderr);

      await assertWhole(t, path, lines);
      const room = await opened(t, path);
      const events = await room.journal.slice({ after: 0, limit: 100, stream: 'item/web-1' });
      assert.deepEqual(
        events.map(({ kind, texts }) => [kind, texts]),
        [
          ['item.created', null],
          ['text.erased', null],
        ],
      );
      const { folder } = room.files;
      assert.deepEqual(
        readdirSync(folder).filter((name) => !name.endsWith('.wjl')),
        [],
      );
      await room.close();
    });
});

describe('a kill while the journal is moved', () => {
  for (const [from, to, points] of [
    ['file', 'database', ['workroom.convert.written=kill', 'workroom.convert.moved=kill']],
    [
      'database',
      'file',
      ['workroom.convert.written=kill', 'workroom.convert.renamed=kill', 'workroom.convert.moved=kill'],
    ],
  ] as const)
    for (const point of points)
      it(`leaves it whole in one store at ${point} on the way to the ${to}`, async (t) => {
        const { path } = temporaryProject(t);
        assert.equal(run(['fill', path]).status, 0);
        if (from === 'database') assert.equal(run(['convert', path, 'file', 'database']).status, 0);
        const before = await opened(t, path, from);
        const head = await readHead(before.core.reader);
        before.kill();

        const { signal, stderr } = run(['convert', path, from, to], point);
        assert.equal(signal, 'SIGKILL', stderr);

        const store = point === 'workroom.convert.moved=kill' ? to : from;
        const after = await opened(t, path, store);
        assert.equal(await readStore(after.core, after.files.folder), store);
        assert.deepEqual(after.verify(), { head, faults: [] });
        await after.close();
      });
});
