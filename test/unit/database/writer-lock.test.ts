// The authority to write, and what taking it needs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { acquireWriterLock, lockWriter, readWorkerRecord } from '../../../worker/database/writer-lock.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

it('is had by one, and needs no room for a journal (LOCK-1)', (t) => {
  const { paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const holder = { runtimeId: 'one', owner: 'foreground', mode: 'production' } as const;

  const lock = acquireWriterLock(paths, holder);

  t.after(() => lock.release());
  assert.throws(() => acquireWriterLock(paths, { ...holder, runtimeId: 'two' }), { code: 'already_running' });
  assert.deepEqual(readdirSync(paths.stateDir).sort(), ['worker.json', 'writer.lock']);
});

it('notes its end in its own folder alone: in one that took the place of that, the record is that of another (LOCK-2)', (t) => {
  const { paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const holder = { owner: 'daemon', mode: 'production' } as const;
  const lock = acquireWriterLock(paths, { ...holder, runtimeId: 'one' });
  t.after(() => lock.release());
  renameSync(paths.stateDir, `${paths.stateDir}-elsewhere`);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const next = acquireWriterLock(paths, { ...holder, runtimeId: 'two' });
  t.after(() => next.release());

  lock.ending(0, 'stopped');

  assert.equal(readWorkerRecord(paths)?.runtimeId, 'two');
});

it('names the file that it cannot be had of, why, and what helps', (t) => {
  const { paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  // Root may use whatever there is, but no folder as a file.
  if (process.getuid?.() === 0) mkdirSync(paths.writerLock);
  else {
    writeFileSync(paths.writerLock, '');
    chmodSync(paths.writerLock, 0o400);
  }

  assert.throws(() => acquireWriterLock(paths, { runtimeId: 'one', owner: 'foreground', mode: 'production' }), {
    code: 'storage_unavailable',
    message: /writer\.lock cannot be opened: (unable to open database file|EACCES)/,
    hint: /make \.svc\/ and its files readable and writable/,
  });
});

it('is waited for while its holder is no live worker: a command has it for the moment of one change (LOCK-4)', async (t) => {
  const { paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const lock = lockWriter(paths);
  const asking = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', ASKS(paths.project)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(asking, 'exit');
  const said: string[] = [];
  for await (const line of createInterface(asking.stdout)) {
    said.push(line);
    if (line === 'asks') setImmediate(() => lock.close());
  }

  assert.deepEqual(said, ['asks', 'has it']);
  assert.equal((await ended)[0], 0);
  assert.equal(readWorkerRecord(paths)?.runtimeId, 'next');
});

const SOURCE = new URL('../../../worker/database/writer-lock.ts', import.meta.url).href;
const PATHS = new URL('../../../shared/files/paths.ts', import.meta.url).href;
const ASKS = (project: string): string => `
  import { writeSync } from 'node:fs';
  import { acquireWriterLock } from ${JSON.stringify(SOURCE)};
  import { projectPaths } from ${JSON.stringify(PATHS)};
  writeSync(1, 'asks\\n');
  acquireWriterLock(projectPaths(${JSON.stringify(project)}), { runtimeId: 'next', owner: 'foreground', mode: 'production' });
  writeSync(1, 'has it\\n');
  process.exit(0);`;
