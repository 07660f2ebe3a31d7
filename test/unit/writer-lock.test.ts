// The authority to write, and what taking it needs.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { it } from 'node:test';
import { acquireWriterLock } from '../../worker/writer-lock.ts';
import { temporaryProject } from '../support/temporary-project.ts';

it('is had by one, and needs no room for a journal (A1)', (t) => {
  const { paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const holder = { runtimeId: 'one', owner: 'foreground', mode: 'production' } as const;

  const lock = acquireWriterLock(paths, holder);

  t.after(() => lock.release());
  assert.throws(() => acquireWriterLock(paths, { ...holder, runtimeId: 'two' }), { code: 'already_running' });
  assert.deepEqual(readdirSync(paths.stateDir).sort(), ['worker.json', 'writer.lock']);
});
