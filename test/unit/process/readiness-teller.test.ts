// What a supervisor is told of a host that changes while it is being looked at.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { App } from '../../../worker/host/app-options.ts';
import { tellReadiness } from '../../../worker/process/worker-status.ts';

describe('a worker that tells its readiness', () => {
  it('tells last what it has seen last, though an earlier look takes longer', async (t) => {
    let answer: (status: Readonly<Record<string, unknown>>) => void = () => {};
    const slow = [new Promise<Readonly<Record<string, unknown>>>((resolve) => (answer = resolve))];
    const app: Pick<App, 'isReady' | 'status'> = {
      isReady: () => true,
      status: () => slow.shift() ?? Promise.resolve({ generation: 2, reasons: [] }),
    };
    const told: unknown[] = [];
    const teller = tellReadiness({
      app: app as App,
      send: (message) => void (message.type === 'ready' && told.push(message.generation)),
      onConfig: () => {},
    });
    t.after(() => teller.stop());

    const later = teller.look();
    await new Promise((resolve) => setImmediate(resolve));
    answer({ generation: 1, reasons: [] });
    await later;
    await new Promise((resolve) => setImmediate(resolve));

    assert.deepEqual(told, [1, 2]);
  });
});
