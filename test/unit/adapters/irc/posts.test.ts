// Which posts of one connection of IRC are written again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PostsByKey } from '../../../../worker/adapters/irc/posts-by-key.ts';
import type { SendResult } from '../../../../worker/sdk/index.ts';

describe('posts of IRC by key', () => {
  it('are made once for ten minutes after they were sent, and then forgotten', async () => {
    const { once, made, clock } = counted();
    await once('a');
    clock.now = 599_999;
    await once('a');
    const within = made.length;
    clock.now = 600_000;
    await once('a');

    assert.deepEqual([within, made.length], [1, 2]);
  });

  it('are forgotten beyond a bound, the oldest first', async () => {
    const { once, made } = counted();
    for (let n = 0; n < 257; n += 1) await once(`k${n}`);
    await once('k256');
    await once('k1');
    const before = made.length;
    await once('k0');

    assert.deepEqual([before, made.length], [257, 258]);
  });

  it('are made again when they were not sent', async () => {
    const { once, made } = counted();
    const ends: readonly (() => Promise<SendResult>)[] = [
      async () => ({ kind: 'later', afterMs: 1 }),
      async () => ({ kind: 'refused', reason: 'r' }),
      () => Promise.reject(new Error('no PONG')),
    ];
    for (const end of ends) await once('a', end).catch(() => {});
    await once('a');

    assert.equal(made.length, 4);
  });
});

function counted() {
  const clock = { now: 0 };
  const made: string[] = [];
  const posts = new PostsByKey(() => clock.now);
  const once = (key: string, post = async (): Promise<SendResult> => ({ kind: 'sent' })): Promise<SendResult> =>
    posts.once(key, () => {
      made.push(key);
      return post();
    });
  return { once, made, clock };
}
