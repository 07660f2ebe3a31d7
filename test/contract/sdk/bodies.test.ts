// What a handler of plain JavaScript says in a wrong form: refused by name where it is said, and never shown as something else.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Body, type ChatCtx, definePlugin, md, t, userError } from 'svc';
import { testBot } from 'svc/testing';

/** What people saw of "/go", and the first failure in the log. */
async function said(run: (ctx: ChatCtx) => unknown, where = 'dm-ann') {
  const plugin = definePlugin({
    name: 'x',
    setup: (p) => p.command('go', { summary: 'Goes', attempts: 1 }, (ctx) => run(ctx) as Body),
  });
  const bot = await testBot(plugin);
  await bot.person('ann', where === 'dm-ann' ? {} : { in: where }).says('/go');
  const logs = bot.logs as { readonly message?: string; readonly err?: Error }[];
  const failed = logs.find(({ message }) => message === 'handler failed' || message === 'inbox item could not be run');
  const [shown, dead] = [bot.shown(where), bot.dead().length];
  await bot.stop();
  return { shown, dead, text: failed?.err?.message ?? '' };
}
const message = { endpoint: 'root/fake:fake', conversation: 'room', id: 'm1' };

describe('where something is said', () => {
  it('is refused, with the field and what is expected', async () => {
    const wrong: readonly (readonly [(ctx: ChatCtx) => unknown, RegExp])[] = [
      ...[
        undefined,
        null,
        'room',
        5,
        {},
        { id: 'room' },
        { endpoint: 'fake' },
        { endpoint: 'fake', id: 5 },
        { endpoint: '', id: '' },
      ].map(
        (to) =>
          [(ctx: ChatCtx) => void ctx.send(to as never, 'x'), /send: to has to be a conversation or a user/] as const,
      ),
      [(ctx) => void ctx.send({ endpoint: 'fake', id: 'a', thread: 5 as never }, 'x'), /send: thread of to has to be/],
      ...[undefined, null, 'm1', {}, { sent: 5 }, { sent: '' }, { endpoint: 'fake', id: 'a' }].flatMap((ref) => [
        [(ctx: ChatCtx) => ctx.edit(ref as never, 'x'), /edit: message has to be a reference/] as const,
        [(ctx: ChatCtx) => ctx.remove(ref as never), /remove: message has to be a reference/] as const,
        [(ctx: ChatCtx) => ctx.react(ref as never, '👍'), /react: message has to be a reference/] as const,
      ]),
      [(ctx) => ctx.react(message, undefined as never), /react: emoji has to be a text/],
      [(ctx) => ctx.react(message, ''), /react: emoji has to be a text/],
      [(ctx) => ctx.once(undefined as never, () => 'x'), /name of a step/],
      [(ctx) => ctx.once('x', undefined as never), /name of a step/],
    ];
    const plugin = definePlugin({
      name: 'x',
      setup: (p) =>
        p.command('go', { summary: 'Goes', attempts: 1, args: { n: t.integer() } }, async (ctx, { n }) => {
          await wrong[n]?.[0](ctx);
        }),
    });
    const bot = await testBot(plugin);
    for (const [n, [, told]] of wrong.entries()) {
      await bot.person('ann').says(`/go ${n}`);
      const logs = bot.logs as { readonly message?: string; readonly err?: Error }[];
      assert.match(logs.findLast(({ message: said }) => said === 'handler failed')?.err?.message ?? '', told);
    }
    assert.equal(bot.dead().length, wrong.length);
    await bot.stop();
  });
});

describe('a body of another form', () => {
  it('is refused, with the field and what is expected', async () => {
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [5, /got number/],
      [null, /got null/],
      [['a'], /got a list/],
      [{}, /none of text, buttons/],
      [{ txt: 'secret words' }, /none of text, buttons/],
      [new Map([['text', 'x']]), /none of text, buttons/],
      [{ text: 5 }, /text has to be a text or md/],
      [{ text: { text: 'x' } }, /text has to be a text or md/],
      [{ segments: 'x' }, /text has to be a text or md/],
      [{ segments: [{ kind: 'nope', text: 'x' }] }, /list of segments/],
      [{ segments: [null] }, /list of segments/],
      [{ segments: [{ kind: 'mention', user: 'ann' }] }, /list of segments/],
      [{ text: 'x', buttons: 'no' }, /buttons has to be a list/],
      [{ text: 'x', buttons: [{ label: 'x' }] }, /buttons has to be a list/],
      [{ text: 'x', files: [{ id: 'x' }] }, /files has to be a list/],
      [{ text: 'x', replyTo: 'm1' }, /replyTo has to be the reference/],
      [{ text: 'x', thread: {} }, /thread has to be the reference/],
      [{ text: 'x', unsure: 'never' }, /unsure has to be/],
      [(function* () {})(), /none of text, buttons/],
    ];
    for (const [body, told] of wrong) {
      for (const run of [() => body, (ctx: ChatCtx) => void ctx.reply(body as Body)]) {
        const { shown, dead, text } = await said(run);
        assert.match(text, told);
        assert.doesNotMatch(text, /secret words/);
        assert.equal(dead, 1, text);
        assert.match(shown.join(), /^Sorry, that failed/);
      }
    }
  });

  it('is shown to nobody when it is for one person', async () => {
    const { shown, text } = await said(() => ({ text: 'for ann alone', only: 'ann' }), 'room');

    assert.match(text, /only has to be a user/);
    assert.doesNotMatch(shown.join(), /for ann alone/);
  });

  it('is a failure as any other where it was to be told to the person', async () => {
    const { shown, dead, text } = await said(() => {
      throw userError({ txt: 'x' } as Body);
    });

    assert.match(text, /none of text, buttons/);
    assert.deepEqual([shown.length, dead], [1, 1]);
  });

  it('is nothing more when it is what ctx.reply gave', async () => {
    const { shown, dead, text } = await said((ctx) => ctx.reply('once'));

    assert.deepEqual([shown, dead, text], [['once'], 0, '']);
  });

  it('may be any of its forms', async () => {
    for (const body of [
      { text: 'x', replyTo: message },
      { text: { segments: [] }, files: undefined },
      { segments: [] },
      '',
    ]) {
      const { dead, text } = await said(() => body);
      assert.deepEqual([dead, text], [0, '']);
    }
  });

  it('keeps what is put beside the segments of md', async () => {
    const plugin = definePlugin({
      name: 'x',
      setup: (p) => p.command('go', { summary: 'Goes' }, (ctx) => ({ ...md`**x**`, only: ctx.user })),
    });
    const bot = await testBot(plugin);
    await bot.person('ann', { in: 'room' }).says('/go');
    assert.deepEqual(
      bot.messages('room').map(({ text, only }) => [text, only]),
      [['**x**', 'ann']],
    );
    await bot.stop();

    const wrong = await said(() => ({ ...md`for ann alone`, only: 'ann' }), 'room');
    assert.match(wrong.text, /only has to be a user/);
    assert.doesNotMatch(wrong.shown.join(), /for ann alone/);
  });

  it('may be what a person wrote: with its files, and without what it answered to', async () => {
    const file = { id: 'f1', name: 'cat.png', mime: 'image/png', bytes: 3 };
    const plugin = definePlugin({
      name: 'x',
      setup: (p) =>
        p.on('message', { where: 'group' }, (ctx, m) => void ctx.send({ endpoint: 'fake', id: 'copies' }, m)),
    });
    const bot = await testBot(plugin, { can: { files: { maxBytes: 100 }, replies: true } });
    const base = {
      conversation: { id: 'room', kind: 'group' },
      user: { id: 'ann', name: 'Ann', admin: false },
    } as const;
    for (const [n, text] of ['see', ''].entries())
      await bot.arrive({
        ...base,
        kind: 'message',
        id: `a${n}`,
        message: `m${n}`,
        sentAt: 0,
        text,
        files: [file],
        replyTo: 'm0',
      });

    const copies = bot.messages('copies');
    assert.deepEqual(
      copies.map(({ text, files, replyTo }) => [text, files.map(({ name }) => name), replyTo]),
      [
        ['see', ['cat.png'], undefined],
        ['', ['cat.png'], undefined],
      ],
    );
    await bot.stop();
  });
});
