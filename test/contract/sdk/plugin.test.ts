// What a plugin registers, and what people see of it: tools, routes, cron, parts, resources, files.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Can, defineAgentTool, defineEvent, definePlugin, md, type PluginModule, t } from 'svc';
import { everyCrash, loopback } from 'svc/testing';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';
import type { TestBotOptions } from '../../../worker/testing/test-bot.ts';
import { importSource } from '../../support/import-source.ts';
import remind from '../samples/remind.ts';
import ticket from '../samples/ticket.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const start = (setup: SetupOf, options?: TestBotOptions): Promise<MemoryBot> =>
  startBot(definePlugin({ name: 'x', setup }), options);
const ROOM = { endpoint: 'fake', id: 'room' };

describe('a plugin', () => {
  it('has tools, routes, cron and parts of the host', async () => {
    const add = defineAgentTool({
      name: 'add',
      description: 'Adds',
      input: { a: t.number(), b: t.number() },
      run: (_ctx, { a, b }) => a + b,
    });
    const plugin = definePlugin({
      name: 'polls',
      uses: ['workroom'],
      setup(p) {
        p.tool(add);
        p.route('GET /n', { scope: 'demo' }, (ctx) => {
          ctx.send(ROOM, 'looked');
          return { json: { n: 1 } };
        });
        p.cron('tick', { at: '0 9 * * *' }, async (ctx, due) => {
          const answer = await ctx.workroom.do({ kind: 'open' });
          ctx.send(ROOM, `${due} ${answer.kind}`);
        });
      },
    });
    const bot = await startBot(plugin, { parts: { workroom: { do: async () => ({ kind: 'accepted', item: 'w1' }) } } });

    assert.equal(await bot.call('root/polls#tool/add', { a: 1, b: 2 }), 3);
    await assert.rejects(bot.call('root/polls#tool/add', { a: 'x', b: 2 }), /a: expected a number/);
    assert.deepEqual(await bot.call('root/polls#route/GET /n', {}), { status: 200, json: { n: 1 } });
    for (const due of [9, 9, 10]) await bot.due('polls', 'tick', due);

    assert.deepEqual(bot.shown('room'), ['looked', '9 accepted', '10 accepted']);
    await assert.rejects(startBot(plugin), /uses workroom, which this host does not have configured/);
  });

  it('hears the events of others exactly as they were committed, also over kills', () => {
    const closed = defineEvent('polls.closed', t.object({ id: t.string() }));
    const polls = definePlugin({
      name: 'polls',
      setup(p) {
        p.command('close', { summary: '', args: { id: t.string() } }, (ctx, { id }) => {
          ctx.emit(closed, { id });
          if (ctx.item.attempt === 1) throw new Error('again');
        });
      },
    });
    const log = definePlugin({
      name: 'log',
      setup(p) {
        p.subscribe(closed, (ctx, { id }) => void ctx.send(ROOM, `closed ${id}`));
      },
    });

    return everyCrash(
      () => startBot({ polls, log }),
      async (bot) => {
        for (const id of ['1', '2']) await bot.person('ann').says(`/close ${id}`);
        await bot.clock.advance('1m');
      },
      (bot, point) => assert.deepEqual(bot.shown('room'), ['closed 1', 'closed 2'], point),
    );
  });

  it('has resources that open at activation and close in reverse; a failing one fails the start', async () => {
    const log: string[] = [];
    const bot = await start((p) => {
      const open =
        (name: string): (() => Promise<string>) =>
        async () =>
          `${log.push(`open ${name}`)}`;
      const db = p.resource('db', open('db'), () => void log.push('close db'));
      p.resource('cache', open('cache'), () => void log.push('close cache'));
      p.command('n', { summary: '' }, () => db());
      p.signal.addEventListener('abort', () => log.push('abort'));
    });

    await bot.person('ann').says('/n');
    await bot.stop();

    assert.deepEqual(
      [bot.shown('dm-ann'), log],
      [['1'], ['open db', 'open cache', 'abort', 'close cache', 'close db']],
    );
    const failing = start((p) => {
      p.resource(
        'db',
        () => Promise.reject(new Error('no db')),
        () => {},
      );
    });
    await assert.rejects(failing, /resource db of root\/x could not be opened: no db/);
  });

  it('is refused with the place when its configuration does not fit', async () => {
    await assert.rejects(startBot(remind, { config: { maxDays: 0 } }), /maxDays/);
    await assert.rejects(startBot(ticket, { config: { url: 'x' } }), /token/);
  });

  it('keeps files by content', async () => {
    const bot = await start((p) => {
      p.command('go', { summary: '' }, async (ctx) => {
        const [a, b] = [
          await ctx.saveFile('a.txt', 'text/plain', Buffer.from('hello')),
          await ctx.saveFile('b.txt', 'text/plain', Buffer.from('hello')),
        ];
        return `${a.id === b.id} ${a.bytes} ${Buffer.from(await ctx.readFile(a)).toString()}`;
      });
    });

    await bot.person('ann').says('/go');

    assert.deepEqual(bot.shown('dm-ann'), ['true 5 hello']);
  });

  it('works with a second copy of the SDK; one made for a newer SDK is refused by name', async () => {
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const folder = await mkdtemp(join(root, 'node_modules', '.sdk-copy-'));
    try {
      await cp(join(root, 'worker/sdk'), folder, { recursive: true });
      const source = `import { definePlugin, userError } from './index.ts';
export default definePlugin({ name: 'other', setup(p) { p.command('no', { summary: '' }, () => { throw userError('told by the copy'); }); } });`;
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      await writeFile(join(folder, 'other.ts'), source);
      const { default: plugin } = (await importSource(join(folder, 'other.ts'))) as {
        default: PluginModule;
      };
      const bot = await startBot(plugin);

      await bot.person('ann').says('/no');

      assert.deepEqual(bot.shown('dm-ann'), ['told by the copy']);
      const newer = Object.defineProperty({ ...plugin }, Symbol.for('svc.definition'), {
        value: { kind: 'plugin', sdk: [1, 9] },
      });
      await assert.rejects(startBot({ other: newer }), /needs SDK 1\.9, this svc has 1\.0: update svc/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('what people see', () => {
  const show = async (setup: SetupOf, can: Partial<Can>): Promise<readonly string[]> => {
    const bot = await start(setup, { can });
    await bot.person('ann', { in: 'room' }).says('/go');
    return bot.shown('room');
  };

  it('is one body in the format of each platform', async () => {
    const evil = '*x* <b>';
    const setup: SetupOf = (p) => p.command('go', { summary: '' }, () => md`**${evil}** _i_`);
    const text = (render: 'plain' | 'markdown' | 'html'): Can['text'] => ({ limit: 100, unit: 'utf16', render });

    assert.deepEqual(await show(setup, { text: text('plain') }), ['*x* <b> i']);
    assert.deepEqual(await show(setup, { text: text('markdown') }), ['**\\*x\\* \\<b\\>** _i_']);
    assert.deepEqual(await show(setup, { text: text('html') }), ['<b>*x* &lt;b&gt;</b> <i>i</i>']);
  });

  it('comes in parts where it is too long, each once, also over a kill', async () => {
    const bot = await start((p) => p.command('go', { summary: '' }, () => 'one two three four'), {
      can: { text: { limit: 8, unit: 'utf16', render: 'plain' } },
    });
    bot.crashAfter('posted');

    await bot.person('ann').says('/go');

    assert.deepEqual(bot.shown('dm-ann'), ['one two', 'three', 'four']);
  });

  it('has threads, reactions and removals where the platform has them', async () => {
    const bot = await start((p) => {
      p.on('message', { text: /^open (?<what>\w+)$/ }, (ctx, m) => {
        const ref = ctx.reply({ text: `on ${ctx.groups['what']}`, thread: m.ref });
        ctx.react(ref, 'ok');
        ctx.remove(ctx.reply('gone'));
      });
    });

    await bot.person('ann').says('open door');

    assert.deepEqual(
      bot.platform.messages('dm-ann').map((m) => [m.text, m.thread, m.reactions]),
      [['on door', 'in-d1', ['ok']]],
    );
  });

  it('names who is meant where the platform has no replies and no private lines', async () => {
    const setup: SetupOf = (p) => {
      p.on('message', { text: 'reply' }, (_ctx, m) => ({ text: 'yes', replyTo: m.ref }));
      p.on('message', { text: 'only' }, (ctx) => ({ text: 'you', only: ctx.user }));
    };
    const bot = await start(setup, { can: { replies: false, only: false }, direct: false });

    for (const text of ['reply', 'only']) await bot.person('Ann', { in: 'room' }).says(text);

    assert.deepEqual(bot.shown('room'), ['Ann: yes', 'Ann: you']);
  });

  it('is refused at once when a task, an event or a button is given what does not fit it', async () => {
    const bot = await start((p) => {
      const task = p.task('t', { data: { n: t.integer() } }, () => {});
      const action = p.action('a', { data: { n: t.integer() } }, () => {});
      p.command('go', { summary: '', attempts: 1 }, (ctx) => ctx.schedule(task, { n: Number.NaN }));
      p.command('ask', { summary: '', attempts: 1 }, () => ({ buttons: [action.button('ok', { n: 0.5 })] }));
      p.command('gone', { summary: '', attempts: 1 }, (ctx) => {
        ctx.edit(ctx.reply('x'), { buttons: [{ label: 'ok', action: 'root/x#action/b', data: {} }] });
      });
    });

    for (const line of ['/go', '/ask', '/gone']) await bot.person('ann').says(line);

    const errors = JSON.stringify(bot.disk.rows('SELECT error FROM handler_runs'));
    assert.match(errors, /root\/x#task\/t: n: expected a whole number/);
    assert.match(errors, /button ok of root\/x#action\/a: n: expected a whole number/);
    assert.match(errors, /button ok: there is no action root\/x#action\/b/);
  });

  it('reaches the thread that it was asked in', async () => {
    const bot = await start((p) => p.command('go', { summary: '' }, () => 'here'));

    const conversation = { id: 'room', kind: 'group', thread: 't1' } as const;
    await bot.arrive({
      id: 'n1',
      kind: 'message',
      message: 'm',
      text: '/go',
      sentAt: 0,
      conversation,
      user: { id: 'ann', name: 'Ann', admin: false },
    });

    assert.deepEqual(
      bot.platform.messages('room').map((m) => [m.text, m.thread]),
      [['here', 't1']],
    );
  });

  it('is changed by a task, in the place where it was sent', async () => {
    const bot = await start((p) => {
      const later = p.task('later', { data: { shown: t.message() } }, (ctx, { shown }) => ctx.edit(shown, 'after'));
      p.command('go', { summary: '' }, (ctx) =>
        ctx.schedule(later, { shown: ctx.reply('before') }, { afterMs: 1_000 }),
      );
    });

    await bot.person('ann').says('/go');
    assert.deepEqual(bot.shown('dm-ann'), ['before']);
    await bot.clock.advance('1s');

    assert.deepEqual(bot.shown('dm-ann'), ['after']);
  });
});

describe('the sample that opens tickets', () => {
  it('waits as told, tells a person, and ends as a dead letter with an answer', async (test) => {
    const answers = [429, 201, 422, 500, 500, 500, 500, 500];
    const url = await loopback(test, () => ({
      status: answers.shift() ?? 201,
      headers: { 'retry-after': '3' },
      json: { number: 1 },
    }));
    const bot = await startBot(ticket, { config: { url, token: 'abc-secret' } });

    await bot.person('ann').says('/ticket one');
    await bot.clock.advance('2s');
    assert.deepEqual(bot.shown('dm-ann'), []);
    await bot.clock.advance('1s');
    for (const title of ['two', 'three']) await bot.person('ann').says(`/ticket ${title}`);
    await bot.clock.advance('10m');

    const shown = bot.shown('dm-ann').map((text) => text.replace(/\(.*\)/, '(…)'));
    assert.deepEqual(shown, ['Ticket 1 is open.', 'The tracker does not take this title.', 'Sorry, that failed (…).']);
    assert.equal(bot.dead().length, 1);
    const seen = JSON.stringify([
      bot.logs,
      bot.disk.rows('SELECT * FROM inbox'),
      bot.disk.rows('SELECT * FROM outbox'),
      bot.disk.rows('SELECT * FROM event_log'),
    ]);
    assert.ok(!seen.includes('abc-secret'));
  });
});
