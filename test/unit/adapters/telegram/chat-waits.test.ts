// Whose limit a 429 of Telegram was: its answers do not say.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatWaits } from '../../../../worker/adapters/telegram/chat-waits.ts';

const later = { kind: 'later', afterMs: 3_000 };
const whole = { ...later, account: true };

describe('a 429 of Telegram', () => {
  it('is that of its chat, however often it is told', () => {
    const waits = new ChatWaits();

    assert.deepEqual([waits.later('5', 3_000, 0), waits.later('5', 3_000, 1_000)], [later, later]);
  });

  it('is that of the bot, while another chat has to wait', () => {
    const waits = new ChatWaits();
    waits.later('5', 3_000, 0);

    assert.deepEqual(waits.later('6', 3_000, 2_999), whole);
    assert.deepEqual(waits.later('5', 3_000, 4_000), whole, 'and the other way round');
  });

  it('is that of its chat again, once the other wait is over', () => {
    const waits = new ChatWaits();
    waits.later('5', 3_000, 0);

    assert.deepEqual(waits.later('6', 3_000, 3_000), later);
  });

  it('is over after an hour, if it was for weeks', () => {
    const waits = new ChatWaits();
    waits.later('5', 49 * 86_400_000, 0);

    assert.deepEqual(waits.later('6', 3_000, 3_600_000), later);
  });

  it('holds the whole bot for seconds alone: two full groups may each have met their own limit', () => {
    const waits = new ChatWaits();
    waits.later('5', 40_000, 0);

    assert.deepEqual(waits.later('6', 30_000, 0), { kind: 'later', afterMs: 30_000, account: true, accountMs: 5_000 });
  });
});
