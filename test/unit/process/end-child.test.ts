// The end of a child that never began: until Node reports the failed spawn, a signal goes to the process group of its parent.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { it } from 'node:test';
import { endChild } from '../../../shared/process/end-child.ts';

it('a child process is ended only if it began', () => {
  const signals: unknown[] = [];
  const child = (pid: number | undefined) =>
    ({ pid, kill: (signal: string) => signals.push([pid, signal]) }) as unknown as ChildProcess;
  for (const pid of [undefined, 0, 4_711]) endChild(child(pid));

  assert.deepEqual(signals, [[4_711, 'SIGKILL']]);
});
