// A file that was emptied or removed before this process: nothing is made in its place while there is something to lose.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileIdentity, type HistoryNote, notedHistory, noteHistoryEnd } from '../../../shared/files/lost-history.ts';
import { fileFacts, loadProjectState } from '../../../worker/database/project-state.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import type { NewEvent } from '../../../worker/events/event-types.ts';
import { databaseHost } from '../../support/hosts/database-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

function fileOf(t: Cleanup): string {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

const EVENT = {
  type: 'ready.changed',
  at: 1,
  runtimeId: 'r',
  data: { ready: true, state: 'ready', unmet: [] },
} satisfies NewEvent;

/** A history of two events, closed. */
async function stored(t: Cleanup, file: string): Promise<{ readonly epoch: string; readonly seq: number }> {
  const { host } = databaseHost(t, file);
  await host.open();
  const { epoch } = await loadProjectState(host, host.reader);
  await host.commit({ name: 'test', statements: recordEvents([EVENT, EVENT]) });
  await host.close();
  return { epoch, seq: 2 };
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

describe('a lost history', () => {
  it('is not told by a host whose folder was removed: its next note makes no mark for another host there', (t) => {
    const { path } = temporaryProject(t);
    const file = join(path, '.svc', 'data.sqlite');
    mkdirSync(dirname(file), { recursive: true });
    const note = { epoch: 'e', seq: 3, state: 'open', of: '1-0', at: 0 } as const;
    noteHistoryEnd(file, note);
    assert.equal(notedHistory(file), undefined);
    noteHistoryEnd(file, note, true);
    assert.equal(notedHistory(file)?.seq, 3);
  });

  for (const [what, log, lose] of [
    ['emptied after a clean end', '', (file: string) => truncateSync(file)],
    [
      'emptied while its log has the last commits',
      'commits',
      (file: string) => {
        rmSync(`${file}.known`);
        truncateSync(file);
      },
    ],
    ['removed after a clean end', '', (file: string) => rmSync(file)],
    ['removed while its log has the last commits', 'commits', (file: string) => rmSync(file)],
  ] as const)
    it(`is not replaced where the file was ${what}, until what is left of it is removed too`, async (t) => {
      const file = fileOf(t);
      const former = databaseHost(t, file).host;
      await former.open();
      await former.close();
      if (log !== '') writeFileSync(`${file}-wal`, log);
      lose(file);
      const { host, states } = databaseHost(t, file);

      const { kind } = await host.open();
      await assert.rejects(host.commit({ name: 'test', statements: [] }), { code: 'storage_unavailable' });
      const left = [bytesOf(file), bytesOf(`${file}-wal`)];
      for (const name of [`${file}-wal`, `${file}.known`]) rmSync(name, { force: true });
      await until(() => host.state.kind === 'open', { what: 'a new history' });

      assert.deepEqual([kind, states], ['failed', ['storage_unavailable', 'open']]);
      assert.deepEqual(left, [0, log.length]);
    });

  it('is told where the file ends before what was noted while it was open, until somebody takes what is left', async (t) => {
    const { path } = temporaryProject(t);
    const file = join(path, '.svc', 'data.sqlite');
    mkdirSync(dirname(file), { recursive: true });
    const { epoch, seq } = await stored(t, file);
    noteHistoryEnd(file, { epoch, seq: seq + 4, state: 'open', of: fileIdentity(file), at: Date.now() });
    const { host, states } = databaseHost(t, file);

    const opened = await host.open();
    await assert.rejects(host.commit({ name: 'test', statements: [] }), { code: 'storage_unavailable' });
    rmSync(`${file}.known`);
    await until(() => host.state.kind === 'open', { what: 'what is left to be taken' });

    assert.match(opened.kind === 'failed' ? opened.reason : '', /ends at event 2 .*, and had come to 6 /);
    assert.deepEqual(states, ['storage_unavailable', 'open']);
    const state = await loadProjectState(host, host.reader, fileFacts(file));
    assert.deepEqual([state.isCopy, state.epoch === epoch], [true, false]);
  });

  for (const [what, change] of [
    ['as far as was noted', { more: 0 }],
    ['of another timeline', { epoch: 'another' }],
    ['in another file', { of: '1-1' }],
    ['closed by then', { state: 'closed' }],
  ] as const)
    it(`is not one that is ${what}`, async (t) => {
      const { path } = temporaryProject(t);
      const file = join(path, '.svc', 'data.sqlite');
      mkdirSync(dirname(file), { recursive: true });
      const { epoch, seq } = await stored(t, file);
      const { more, ...rest }: Partial<HistoryNote> & { more?: number } = change;
      const note = { epoch, seq: seq + (more ?? 4), state: 'open', of: fileIdentity(file), at: 0, ...rest } as const;
      noteHistoryEnd(file, note);

      assert.equal((await databaseHost(t, file).host.open()).kind, 'open');
    });

  it('is noted with each commit that brings it further, and that it was closed', async (t) => {
    const { path } = temporaryProject(t);
    const file = join(path, '.svc', 'data.sqlite');
    mkdirSync(dirname(file), { recursive: true });
    const { host } = databaseHost(t, file);
    await host.open();
    const { epoch } = await loadProjectState(host, host.reader);
    const noted: unknown[] = [];
    for (const _ of [1, 2]) {
      await host.commit({ name: 'test', statements: recordEvents([EVENT]) });
      noted.push(notedHistory(file));
    }
    await host.close();
    noted.push(notedHistory(file));

    const of = fileIdentity(file).split('-')[0];
    assert.deepEqual(
      (noted as HistoryNote[]).map((note) => [note.epoch, note.seq, note.state, note.of?.split('-')[0]]),
      [
        [epoch, 1, 'open', of],
        [epoch, 2, 'open', of],
        [epoch, 2, 'closed', of],
      ],
    );
  });

  it('is nothing that an empty file which never was a database has', async (t) => {
    const file = fileOf(t);
    writeFileSync(file, '');

    assert.equal((await databaseHost(t, file).host.open()).kind, 'open');
  });
});
