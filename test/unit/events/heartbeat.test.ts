// When an event stream says that it is there, which a client takes silence of two intervals for a loss of, and when one that nobody reads is closed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STREAM_DEFAULTS } from '../../../worker/events/event-hub.ts';
import { StreamClient } from '../../../worker/events/stream/stream-client.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

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

describe('a stream that nobody reads', () => {
  it('is closed after thirty seconds in which nothing was taken', () => {
    const clock = new ManualClock(0);
    const ended: string[] = [];
    const client = new StreamClient(
      {
        clock,
        window: { end: 4 },
        bounds: () => ({ epoch: 'abcdefgh12345678', oldest: 1, head: 4 }),
        end: (_client: unknown, reason: string) => void ended.push(reason),
      } as never,
      {
        channel: { wire: 'sse', id: () => '' } as never,
        transport: { write: () => {}, queuedBytes: () => STREAM_DEFAULTS.highWaterBytes, end: () => {} },
        actor: 'token:full',
        resume: { kind: 'fresh', from: 4 } as never,
      },
      STREAM_DEFAULTS,
    );
    client.open({ kind: 'fresh', from: 4 } as never, 2_000);

    clock.moveTo(29_999);
    const before = [...ended];
    clock.moveTo(30_000);

    assert.deepEqual([before, ended], [[], ['slow']]);
  });
});
