// Data that was stored under one schema and is read under another.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inspect } from 'node:util';
import { definePlugin, t } from '../../../worker/sdk/index.ts';
import { testBot } from '../../../worker/testing/index.ts';

/** Sends and schedules by `go`; the data has a title only in the later version. */
const order = (properties: Readonly<Record<string, ReturnType<typeof t.string>>>) =>
  definePlugin({
    name: 'order',
    setup(p) {
      const ship = p.task('ship', { data: properties }, () => undefined);
      p.on('message', {}, (ctx) => ctx.schedule(ship, {}, { afterMs: 1_000, key: 'one' }));
    },
  });

it('tells in its dead letter what is missing of data that earlier code has stored, and what to do', async (test) => {
  const bot = await testBot(order({}));
  test.after(() => bot.stop());
  await bot.person('ann').says('go');

  await bot.restart(order({ title: t.string() }));
  await bot.clock.advance('2s');

  assert.equal(bot.dead().length, 1);
  assert.match(
    inspect(bot.logs, { breakLength: Number.POSITIVE_INFINITY }),
    /the data of root\/order#task\/ship does not fit its schema: title is missing; it was stored by earlier code: give a new key a default or t\.optional\(…\), reload, then svc inbox replay/,
  );
});

it('tells what a webhook was sent otherwise than its schema says', async (test) => {
  const hook = definePlugin({
    name: 'hook',
    setup(p) {
      p.webhook(
        'in',
        {
          delivery: () => '1',
          verify: () => ({ kind: 'ok' }),
          body: t.object({ order: t.object({ n: t.integer() }) }),
        },
        () => undefined,
      );
    },
  });
  const bot = await testBot(hook);
  test.after(() => bot.stop());

  await bot.post('hook/in', { body: '{"order":{"n":"five"}}' });

  assert.match(
    inspect(bot.logs, { breakLength: Number.POSITIVE_INFINITY }),
    /the body for root\/hook#webhook\/in does not fit its schema: order\.n: expected a whole number, got .{1,3}five.{1,3}; it came so from its sender/,
  );
});
