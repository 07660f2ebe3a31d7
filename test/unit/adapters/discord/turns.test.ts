// The turns in which sessions at Discord begin.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setImmediate as nextLoop, setTimeout as pause } from 'node:timers/promises';
import { Identifies } from '../../../../worker/adapters/discord/gateway/identify.ts';

const LIVES = new AbortController().signal;
// A wait for a turn keeps no process.
const keeps = setInterval(() => {}, 1_000);
after(() => clearInterval(keeps));

describe('Identifies', () => {
  it('lets the next one begin a while after Discord has answered, however late that is (DISCORD-IDENTIFY-1)', async () => {
    const everyMs = 20;
    const order: string[] = [];
    const identifies = new Identifies();
    const answered = await identifies.turn(0, { everyMs, signal: LIVES });
    const next = identifies.turn(1, { everyMs, signal: LIVES }).then(() => order.push('next'));

    await pause(2 * everyMs);
    order.push('answered');
    answered();
    // Timers of one process end in the order in which they are due.
    await pause(everyMs / 2).then(() => order.push('half of the while'));
    await next;

    assert.deepEqual(order, ['answered', 'half of the while', 'next']);
  });

  it('goes on behind one that was ended while it waited, and not before its time', async () => {
    const identifies = new Identifies();
    const answered = await identifies.turn(0, { everyMs: 0, signal: LIVES });
    const ended = new AbortController();
    const second = identifies.turn(1, { everyMs: 0, signal: ended.signal });
    let isNext = false;
    const third = identifies.turn(2, { everyMs: 0, signal: LIVES }).then(() => (isNext = true));

    ended.abort();
    await assert.rejects(second, { name: 'AbortError' });
    for (let n = 0; n < 5; n += 1) await nextLoop();
    assert.equal(isNext, false);
    answered();

    assert.equal(await third, true);
  });

  it('keeps those apart that Discord lets begin at once', async () => {
    const identifies = new Identifies();
    identifies.told({ session_start_limit: { max_concurrency: 2, remaining: 1_000 } });

    await identifies.turn(0, { everyMs: 60_000, signal: LIVES });

    await identifies.turn(1, { everyMs: 60_000, signal: LIVES });
  });
});
