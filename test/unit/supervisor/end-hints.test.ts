// What is said of a worker that was killed from outside, or could not be started.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { killedFromOutside, remedyFor } from '../../../supervisor/workers/end-hints.ts';

describe('hints at an end of a worker', () => {
  it('name the control group where the kernel has killed for memory in it since the start, else the log of the kernel', () => {
    assert.match(killedFromOutside(2, 3), /the control group is at its limit/);
    for (const [before, after] of [
      [2, 2],
      [undefined, 3],
      [2, undefined],
    ] as const)
      assert.match(killedFromOutside(before, after), /killed by signal 9 from outside: .*journalctl -k/);
  });

  it('name the limit that keeps a worker from starting, and nothing for other errors', () => {
    assert.match(remedyFor('EMFILE') ?? '', /ulimit -n.*LimitNOFILE=/);
    assert.match(remedyFor('EAGAIN') ?? '', /TasksMax=/);
    assert.equal(remedyFor('ENOENT'), undefined);
  });
});
