import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PendingReloads } from '../../supervisor/pending-reloads.ts';

describe('PendingReloads', () => {
  it('are refused at once when the worker ends before it answers', async () => {
    const pending = new PendingReloads();
    const reload = pending.ask(() => true);

    pending.workerEnded();

    await assert.rejects(reload, { code: 'reload_refused', message: /ended before/ });
  });
});
