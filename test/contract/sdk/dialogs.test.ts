// Dialogs: a question for each answer, asked by the schema, answered by words or buttons, open over restarts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, md, mention, t } from 'svc';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const errorsOf = (bot: MemoryBot): string =>
  (bot.logs as readonly { readonly err?: Error }[]).flatMap(({ err }) => err?.message ?? []).join('\n');
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

  it('takes a person who is mentioned', async () => {
    const bot = await start((p) => {
      const d = p.dialog('d', { answers: { who: t.user({ title: 'Who?' }) } }, (ctx, { who }) => {
        ctx.send(who, `from ${ctx.user.id}`);
      });
      p.command('go', { summary: '' }, (ctx) => ctx.ask(d));
    });

    await bot.person('ann').says('/go');
    await bot.person('ann').says(md`${mention({ endpoint: '', id: 'bob' })}`);

    assert.deepEqual([bot.shown('dm-ann'), bot.shown('dm-bob')], [['Who?'], ['from ann']]);
  });

  it('asks for an answer that is given as undefined, and takes what else a command was given', async () => {
    const bot = await start((p) => {
      const d = p.dialog('d', { answers: { size, n: t.integer({ title: 'How many?' }) } }, (_ctx, a) =>
        JSON.stringify(a),
      );
      const args = { size: t.optional(size), n: t.optional(t.integer()), loud: t.optional(t.boolean()) };
      p.command('go', { summary: '', args }, (ctx, a) => ctx.ask(d, { size: a.size, n: a.n, loud: a.loud } as object));
    });

    await bot.person('ann').says('/go --n 2 --loud');
    await bot.person('ann').says('small');

    assert.deepEqual(bot.shown('dm-ann'), ['Which size?', '{"size":"small","n":2}']);
  });

  it('is refused at once when it is given what does not fit, or is none', async () => {
    const bot = await start((p) => {
      const d = p.dialog('d', { answers: { n: t.integer({ minimum: 5 }), m: t.integer() } }, () => 'done');
      p.command('go', { summary: '', attempts: 1 }, (ctx) => ctx.ask(d, { n: 1 }));
      p.command('none', { summary: '', attempts: 1 }, (ctx) => ctx.ask({ id: 'x', kind: 'dialog' }));
    });

    await bot.person('ann').says('/go');
    await bot.person('ann').says('/none');
    await bot.person('ann').says('5');

    assert.equal(bot.shown('dm-ann').length, 2, 'no question stays open');
    assert.match(
      errorsOf(bot),
      /what root\/x#dialog\/d is given: n: expected at least 5, got 1.*x is not a dialog of this/s,
    );
  });

  it('that has nothing to ask may ask the next, and what its command says is said too', async () => {
    const bot = await start((p) => {
      const answers = { a: t.string({ title: 'A?' }) };
      const last = p.dialog('last', { answers: { b: t.string({ title: 'B?' }) } }, (_ctx, { b }) => `last ${b}`);
      const first = p.dialog('first', { answers }, (ctx, { a }) => {
        ctx.ask(last);
        return `first ${a}`;
      });
      const round = p.dialog('round', { answers }, (ctx, given) =>
        ctx.ask({ id: 'root/x#dialog/round', kind: 'dialog' }, given),
      );
      p.command('go', { summary: '' }, (ctx) => {
        ctx.ask(first, { a: 'a' });
        return 'gone';
      });
      p.command('round', { summary: '', attempts: 1 }, (ctx) => ctx.ask(round, { a: 'a' }));
    });

    await bot.person('ann').says('/go');
    await bot.person('ann').says('b');
    await bot.person('bob').says('/round');

    assert.deepEqual(bot.shown('dm-ann'), ['first a', 'B?', 'gone', 'last b']);
    assert.match(errorsOf(bot), /root\/x#dialog\/round is asked without an end/);
  });
});
