// What a handler of plain JavaScript says in a wrong form: refused by name where it is said, and never shown as something else.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Body, type ChatCtx, definePlugin, userError } from 'svc';
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
});
