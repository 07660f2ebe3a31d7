// The heartbeat of an event stream: a client takes silence of two intervals for a loss.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamClient } from '../../../worker/events/stream-client.ts';

describe('the heartbeat of a stream', () => {
  it('comes at every interval, also where something was sent within it: the silence after that would last two', () => {
    const sent: string[] = [];
    const client = new StreamClient(
      {
        clock: { now: () => 0 },
        window: { end: 4 },
        bounds: () => ({ epoch: 'abcdefgh12345678', oldest: 1, head: 4 }),
      } as never,
      {
        channel: { wire: 'sse', id: () => '' } as never,
        transport: {
          write: (parts) => void sent.push(Buffer.concat([...parts]).toString()),
          queuedBytes: () => 0,
          end: () => {},
        },
        actor: 'token:full',
        resume: { kind: 'fresh', from: 4 } as never,
      },
      { heartbeatMs: 15_000, highWaterBytes: 1_000, stallMs: 1_000, bookmarkEvents: 10 },
    );
    client.open({ kind: 'fresh', from: 4 } as never, 2_000);
    const greeting = sent.length;

    client.heartbeat();
    client.heartbeat();

    assert.deepEqual(
      sent.slice(greeting).map((frame) => frame.includes(': \n\n')),
      [true, true],
    );
  });
});
