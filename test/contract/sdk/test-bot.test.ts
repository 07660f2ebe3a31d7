// What a test bot is to an author: requests as HTTP has them, what people see with all that belongs to it, other code under any slot.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { type ChatCtx, definePlugin, type FileRef, md, type PluginModule, t, verifyHmac } from 'svc';
import { testBot } from 'svc/testing';

const says = (text: string): PluginModule =>
  definePlugin({ name: 'echo', setup: (p) => p.command('say', { summary: '' }, () => text) });

describe('a test bot', () => {
  it('asks a route without a body, with headers and a query, and tells its status', async () => {
    const plugin = definePlugin({
      name: 'web',
      setup(p) {
        p.route('GET /n', { scope: 'none' }, (_ctx, { headers, query, body }) => ({
          status: 203,
          json: [headers['x-who'], query['n'], body.length],
        }));
        p.route('DELETE /n', { scope: 'none' }, () => ({}));
      },
    });
    const bot = await testBot(plugin);

    assert.deepEqual(
      await bot.call('root/web#route/GET /n', undefined, { headers: { 'X-Who': 'ann' }, query: { n: '1' } }),
      { status: 203, json: ['ann', '1', 0] },
    );
    assert.deepEqual(await bot.call('root/web#route/DELETE /n'), { status: 200 });
  });

  it('posts headers in any case, as HTTP does', async () => {
    const body = '{"text":"hi"}';
    const signature = createHmac('sha256', 'key').update(body).digest('hex');
    const plugin = definePlugin({
      name: 'web',
      config: { key: t.secret() },
      setup(p) {
        p.webhook(
          'in',
          {
            body: t.object({ text: t.string() }),
            delivery: ({ headers }) => headers['x-delivery'],
            verify: (request) =>
              verifyHmac(request, { signature: request.headers['x-signature'], secrets: [p.config.key] }),
          },
          (ctx, call) => void ctx.send({ endpoint: 'fake', id: 'room' }, call.body.text),
        );
      },
    });
    const bot = await testBot(plugin, { config: { key: 'key' } });

    const { status } = await bot.post('web/in', {
      headers: { 'X-Delivery': '1', 'X-Signature': signature },
      body,
    });

    assert.equal(status, 202);
    assert.deepEqual(bot.shown('room'), ['hi']);
  });

  it('starts other code in the slot of the plugin that it is another version of', async () => {
    const bot = await testBot({ mine: says('old') });

    await bot.restart(says('new'));
    await bot.person('ann').says('/say');

    assert.deepEqual(bot.shown('dm-ann'), ['new']);
    assert.equal(bot.help().split('\n').length, 1);
  });

  it('runs what is due at once without the clock, as a host does', async () => {
    const plugin = definePlugin({
      name: 'later',
      setup(p) {
        const say = p.task('say', { data: { to: t.conversation(), text: t.string() } }, (ctx, { to, text }) => {
          ctx.send(to, text);
        });
        p.command('now', { summary: '' }, (ctx) => {
          ctx.schedule(say, { to: ctx.conversation, text: 'no wait' });
          ctx.schedule(say, { to: ctx.conversation, text: 'after nothing' }, { afterMs: 0, key: 'k' });
          ctx.schedule(say, { to: ctx.conversation, text: 'in the past' }, { at: ctx.now() - 1 });
          ctx.schedule(say, { to: ctx.conversation, text: 'later' }, { afterMs: 1 });
        });
      },
    });
    const bot = await testBot(plugin);

    await bot.person('ann').says('/now');
    const atOnce = bot.shown('dm-ann').toSorted();
    await bot.clock.advance(1);

    assert.deepEqual(atOnce, ['after nothing', 'in the past', 'no wait']);
    assert.equal(bot.shown('dm-ann').at(-1), 'later');
  });

  it('shows files, buttons, reactions, threads and what is replied to', async () => {
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        const press = p.action('press', { data: {} }, () => {});
        p.on('message', {}, async (ctx, { ref }) => {
          const file = await ctx.saveFile('a.txt', 'text/plain', Buffer.from('a'));
          const said = ctx.reply({
            text: md`*a* **b**`,
            files: [file],
            buttons: [press.button('ok', {})],
            replyTo: ref,
          });
          ctx.react(said, '👍');
          ctx.reply({ text: 'below', thread: said, only: ctx.user });
        });
      },
    });
    const bot = await testBot(plugin);

    await bot.person('ann', { in: 'room' }).says('go');

    const [first, second] = bot.messages('room');
    assert.deepEqual(
      { ...first, files: first?.files.map(({ name, bytes }) => [name, bytes]) },
      { id: 'm1', text: '\\*a\\* **b**', buttons: ['ok'], reactions: ['👍'], files: [['a.txt', 1]], replyTo: 'in-d1' },
    );
    assert.deepEqual([second?.text, second?.thread, second?.only], ['below', 'm1', 'ann']);
  });
});

describe('options of a test bot', () => {
  for (const [options, said] of [
    [{ startAt: 'nonsense' }, /^testBot: startAt is "nonsense": expected a time like 2026-01-01T12:00:00Z$/],
    [{ startsAt: '2026-01-01' }, /^testBot: there is no key startsAt; did you mean startAt\?$/],
    [{ can: { button: 0 } }, /^testBot: can is wrong: there is no key button; did you mean buttons\?$/],
    [{ direct: 'no' }, /^testBot: direct has to be true or false$/],
    [{ files: { a: 'text' } }, /^testBot: files has to be bytes \(a Uint8Array\) by id$/],
    [5, /^testBot: expected an object$/],
  ] as const)
    it(`are refused where nothing would come of them: ${JSON.stringify(options)}`, async () => {
      const plugin = definePlugin({ name: 'x', setup() {} });

      await assert.rejects(testBot(plugin, options as never), { code: 'definition_invalid', message: said });
    });

  it('takes what an author hands in for another delivery than what people say, whatever its id', async () => {
    const bot = await testBot(says('hi'));
    const user = { id: 'ann', name: 'ann', admin: false };
    const base = { kind: 'message', user, conversation: { id: 'dm-ann', kind: 'private' }, text: '/say' } as const;
    await bot.arrive({ ...base, id: 'd1', message: 'a', sentAt: 1 });
    await bot.person('ann').says('/say');
    await bot.arrive({ ...base, id: 'd2', message: 'b', sentAt: 2 });
    await bot.person('ann').says('/say');

    assert.deepEqual(bot.shown('dm-ann'), ['hi', 'hi', 'hi', 'hi']);
  });

  it('shows the files of a message behind an edit, which adds its own', async () => {
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        p.command('go', { summary: '' }, async (ctx) => {
          const [a, b] = [await file(ctx, 'a.txt'), await file(ctx, 'b.txt')];
          const said = ctx.reply({ text: 'one', files: [a] });
          ctx.edit(said, 'two');
          ctx.edit(said, { text: 'three', files: [b] });
        });
      },
    });
    const file = (ctx: ChatCtx, name: string): Promise<FileRef> => ctx.saveFile(name, 'text/plain', Buffer.from(name));
    const bot = await testBot(plugin);
    await bot.person('ann').says('/go');

    const shown = bot.messages('dm-ann').map(({ text, files }) => [text, ...files.map(({ name }) => name)]);
    assert.deepEqual(shown, [['three', 'a.txt', 'b.txt']]);
  });

  it('says which buttons there are where the one that is pressed is not', async () => {
    const plugin = definePlugin({
      name: 'ask',
      setup(p) {
        const sure = p.dialog('sure', { answers: { sure: t.boolean({ title: 'Sure?' }) } }, () => 'so be it');
        p.command('ask', { summary: '' }, (ctx) => ctx.ask(sure));
      },
    });
    const bot = await testBot(plugin);
    await bot.person('ann').says('/ask');

    await assert.rejects(bot.person('ann').presses('Yes'), /no button Yes in dm-ann: there are yes, no$/);
    await assert.rejects(bot.person('bob').presses('Yes'), /no button Yes in dm-bob: there are none$/);
  });
});
