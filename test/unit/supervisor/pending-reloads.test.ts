import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PendingReloads } from '../../../supervisor/machine/pending-reloads.ts';

describe('PendingReloads', () => {
  it('are refused at once when the worker ends before it answers', async () => {
    const pending = new PendingReloads();
    const reload = pending.ask(() => true);

    pending.workerEnded();

    await assert.rejects(reload, { code: 'reload_refused', message: /ended before/ });
  });

  it('are refused in the words of the worker, with what to do', async () => {
    const pending = new PendingReloads();
    const error = {
      code: 'restart_required',
      message: 'a reload cannot take in: own.mjs',
      hint: 'svc runtime restart',
    };
    const reload = pending.ask((id) => {
      setImmediate(() => pending.answered({ type: 'reloaded', id, ok: false, generation: null, error }));
      return true;
    });

    await assert.rejects(reload, error);
  });
});
