// Dialogs: a question for each answer, asked by the schema, answered by words or buttons, open over restarts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from 'svc';
import type { MemoryBot } from '../../../worker/sdk/testing/memory-bot.ts';
import { startBot } from '../../../worker/sdk/testing/start-bot.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const start = (setup: SetupOf): Promise<MemoryBot> => startBot(definePlugin({ name: 'x', setup }));

describe('a dialog', () => {
  const size = t.enum(['small', 'large'], { title: 'Which size?' });
  const dialog: SetupOf = (p) => {
    const order = p.dialog(
      'order',
      { answers: { size, n: t.integer({ title: 'How many?', minimum: 1 }) } },
      (_ctx, { size, n }) => `${n} ${size}`,
    );
    p.command('order', { summary: '' }, (ctx) => ctx.ask(order));
    p.on('message', { order: 'after' }, () => 'nobody asked');
  };

  it('says what is wrong with an answer and asks again; a button is an answer too', async () => {
    const bot = await start(dialog);
    const ann = bot.person('ann');

    await ann.says('/order');
    await ann.presses('large');
    await ann.says('none');
    await ann.says('2');

    assert.deepEqual(bot.shown('dm-ann'), [
      'Which size?',
      'How many?',
      'expected a whole number, got "none"',
      'How many?',
      '2 large',
    ]);
  });

  it('ends by /cancel, belongs to its person, and leaves commands alone', async () => {
    const bot = await start(dialog);
    const [ann, bob] = [bot.person('ann', { in: 'room' }), bot.person('bob', { in: 'room' })];

    await ann.says('/order');
    await bob.says('small');
    await ann.says('/cancel');
    await ann.says('small');

    assert.deepEqual(bot.shown('room'), ['Which size?', 'nobody asked', 'Cancelled.', 'nobody asked']);
  });

  it('is ended by a new one in the same place, which says so', async () => {
    const bot = await start(dialog);
    const ann = bot.person('ann');

    await ann.says('/order');
    await ann.says('/order');

    assert.deepEqual(bot.shown('dm-ann'), [
      'Which size?',
      'The open question is dropped: here is another one.',
      'Which size?',
    ]);
    await bot.stop();
  });

  it('expires', async () => {
    const bot = await start((p) => {
      const d = p.dialog(
        'd',
        { answers: { name: t.string({ title: 'Name?' }) }, expiresMs: 60_000 },
        (_ctx, { name }) => name,
      );
      p.command('go', { summary: '' }, (ctx) => ctx.ask(d));
    });

    await bot.person('ann').says('/go');
    await bot.clock.advance('1m');
    await bot.person('ann').says('Ann');

    assert.deepEqual(bot.shown('dm-ann'), ['Name?']);
  });
});
