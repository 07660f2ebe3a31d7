// What a supervisor takes over from the files of a former one, whatever is in them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bootId } from '../../../shared/process/process-identity.ts';
import { takeOver } from '../../../supervisor/log/record.ts';
import { EMPTY_WINDOW } from '../../../supervisor/machine/restart-window.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const DIED = {
  version: 1,
  state: 'running',
  since: '2026-01-01T00:00:00.000Z',
  supervisor: { pid: 2, start: '1', boot: 'b' },
  worker: null,
  exits: [],
};
const WINDOW = { version: 1, boot: bootId(), starts: [1, 2], crashesInRow: 1 };

function left(t: Cleanup, record: string, window: string) {
  const { path } = temporaryProject(t);
  const paths = {
    supervisorRecord: join(path, 'supervisor.json'),
    restartWindow: join(path, 'restart-window.json'),
  };
  writeFileSync(paths.supervisorRecord, record);
  writeFileSync(paths.restartWindow, window);
  return takeOver(paths);
}

describe('takeOver', () => {
  it('keeps the window of a supervisor that died (RECORD-2)', (t) => {
    const { window, previous, fault } = left(t, JSON.stringify(DIED), JSON.stringify(WINDOW));

    assert.deepEqual([window, fault], [{ starts: [1, 2], crashesInRow: 1 }, undefined]);
    assert.equal(previous.end, 'supervisor_died');
  });

  for (const [what, text] of [
    ['empty', ''],
    ['cut', JSON.stringify(WINDOW).slice(0, 20)],
    ['foreign', '{"starts": 3}'],
  ] as const)
    it(`begins an empty window where its file is ${what}, and says so (RECORD-1)`, (t) => {
      const { window, fault } = left(t, JSON.stringify(DIED), text);

      assert.deepEqual(window, EMPTY_WINDOW);
      assert.match(fault ?? '', /restart-window\.json/);
    });

  it('begins an empty window in another boot, as is usual (RECORD-1)', (t) => {
    const { window, fault } = left(t, JSON.stringify(DIED), JSON.stringify({ ...WINDOW, boot: 'another' }));

    assert.deepEqual([window, fault], [EMPTY_WINDOW, undefined]);
  });

  const CRASH = { run: 5, runtimeId: 'r', reason: 'crashed', code: 1, signal: null, detail: 'boom' };
  for (const state of ['stopped', 'failed'])
    it(`tells how the last worker ended, not that the supervisor went without one (${state})`, (t) => {
      const { previous } = left(t, JSON.stringify({ ...DIED, state, exits: [CRASH] }), JSON.stringify(WINDOW));

      assert.deepEqual(previous, { end: 'crashed', code: 1, signal: null, detail: 'boom', runtimeId: 'r' });
    });
});
