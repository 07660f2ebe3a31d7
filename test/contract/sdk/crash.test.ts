// Kills at every point, and at pairs of points: what a person sees is the same.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everyCrash, loopback } from 'svc/testing';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';
import { ofRun } from '../../support/run-length.ts';
import order from '../samples/order.ts';
import poll from '../samples/poll.ts';
import remind from '../samples/remind.ts';
import ticket from '../samples/ticket.ts';

interface Story {
  readonly make: () => Promise<MemoryBot>;
  readonly tell: (bot: MemoryBot) => Promise<void>;
  readonly want: readonly string[];
  /** Every n-th pair is tried; first points take turns, so that all of them are met. `npm run exhaustive` tries more of them. */
  readonly stride: number;
}

const STORIES: Readonly<Record<string, Story>> = {
  remind: {
    make: () => startBot(remind),
    async tell(bot) {
      await bot.person('ann').says('/remind 10m tea');
      await bot.clock.advance('11m');
    },
    want: ['I will remind you in 10m.', '@ann reminder: tea'],
    stride: ofRun({ short: 2, long: 1 }),
  },
  order: {
    make: () => startBot(order),
    async tell(bot) {
      for (const line of ['/order large', '12 High Street', 'no']) await bot.person('ann').says(line);
    },
    want: ['Where to?', 'As a gift?', 'A large one goes to 12 High Street.'],
    stride: ofRun({ short: 7, long: 3 }),
  },
};

describe('two kills', () => {
  for (const [name, { make, tell, want, stride }] of Object.entries(STORIES)) {
    it(`at pairs of points leave ${name} as it is`, async (test) => {
      const first = await make();
      await tell(first);
      const count = first.points.length;
      await first.stop();
      let pairs = 0;
      for (let one = 0; one < count; one += 1) {
        for (let two = one + 1 + (one % stride); two < count + 6; two += stride) {
          const bot = await make();
          bot.killAt([one, two]);
          await tell(bot);
          assert.deepEqual(bot.shown('dm-ann'), want, `${one},${two}`);
          await bot.stop();
          pairs += 1;
        }
      }
      test.diagnostic(`${pairs} pairs`);
      assert.ok(pairs > ofRun({ short: 40, long: 100 }));
    });
  }
});

describe('one kill', () => {
  it('is tried at every kind of point', async (test) => {
    const url = await loopback(test, () => ({ json: { number: 1 } }));
    const seen = new Set<string>();

    await everyCrash(
      () => startBot(ticket, { config: { url, token: 'abc' } }),
      (bot) => bot.person('ann').says('/ticket x'),
      (_bot, point) => void seen.add(point.replace(/^\d+: /, '')),
    );

    const kinds = [
      'attempt',
      'called:create',
      'committed',
      'decided',
      'kept:create',
      'none',
      'posted',
      'received',
      'sending',
      'sent',
      'stored',
    ];
    assert.deepEqual([...seen].sort(), kinds);
  });

  it('doubles one send at most where the platform cannot tell a repeat', () =>
    everyCrash(
      () => startBot(remind, { can: { idempotent: false } }),
      async (bot) => {
        await bot.person('ann').says('/remind 10m tea');
        await bot.clock.advance('11m');
      },
      (bot, point) => {
        assert.ok(bot.platform.duplicates <= (point.endsWith('posted') ? 1 : 0), point);
        assert.equal(bot.shown('dm-ann').length - bot.platform.duplicates, 2, point);
      },
    ));

  it('loses and doubles no vote', () =>
    everyCrash(
      () => startBot(poll),
      async (bot) => {
        await bot.person('ann', { in: 'room' }).says('/poll "Lunch?" pizza sushi');
        for (const name of ['ann', 'bob']) await bot.person(name, { in: 'room' }).presses('sushi');
      },
      (bot, point) => {
        const shown = bot.platform.messages('room').map((m) => [m.text, ...m.buttons.map(({ label }) => label)]);
        assert.deepEqual(shown, [['**Lunch?** (2 votes)', 'pizza: 0', 'sushi: 2']], point);
      },
    ));
});
