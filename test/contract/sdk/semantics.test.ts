// What a handler may rely on (worker/sdk/handler-context.ts): units, `once`, guards, errors, order, names that outlive code.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, giveUp, type PluginModule, retryLater, type Task, t, userError } from 'svc';
import { everyCrash } from 'svc/testing';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';
import type { TestBotOptions } from '../../../worker/testing/test-bot.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const one = (setup: SetupOf): PluginModule => definePlugin({ name: 'x', setup });
const start = (setup: SetupOf, options?: TestBotOptions): Promise<MemoryBot> => startBot(one(setup), options);
const masked = (texts: readonly string[]): readonly string[] => texts.map((text) => text.replace(/\(.*\)/, '(…)'));
const errorsOf = (bot: MemoryBot): string =>
  bot.disk
    .rows<{ error: string | null }>('SELECT error FROM handler_runs')
    .map(({ error }) => error)
    .join('\n');

describe('an attempt that fails', () => {
  it('leaves nothing but stored once results (CONTEXT-1, CONTEXT-2)', async () => {
    let calls = 0;
    const keys = new Set<string>();
    const bot = await start((p) => {
      p.command('go', { summary: '' }, async (ctx) => {
        ctx.reply(`attempt ${ctx.item.attempt}`);
        keys.add(ctx.key('a'));
        const n = await ctx.once('n', () => (calls += 1));
        if (ctx.item.attempt < 3) throw new Error('not yet');
        return `n=${n}`;
      });
    });

    await bot.person('ann').says('/go');
    await bot.clock.advance('1m');

    assert.deepEqual(bot.shown('dm-ann'), ['attempt 3', 'n=1']);
    assert.equal(keys.size, 1);
  });

  it('is told, comes later, or ends as a dead letter; the next item goes on', async () => {
    const bot = await start((p) => {
      p.command('told', { summary: '' }, (ctx) => {
        ctx.reply('gone');
        throw userError('No.');
      });
      p.command('dead', { summary: '' }, () => {
        throw giveUp('broken');
      });
      p.command('later', { summary: '' }, (ctx) => {
        if (ctx.item.attempt === 1) throw retryLater('busy', { afterMs: 60_000 });
        return 'now';
      });
    });

    for (const command of ['told', 'dead', 'later', 'told']) await bot.person('ann').says(`/${command}`);
    await bot.clock.advance('1m');

    assert.deepEqual(masked(bot.shown('dm-ann')), ['No.', 'Sorry, that failed (…).', 'now', 'No.']);
    assert.equal(bot.dead().length, 1);
  });

  it('is over at its time limit: the signal aborts, and nothing of it is kept', async () => {
    const reasons: unknown[] = [];
    let started: () => void = () => {};
    const isRunning = new Promise<void>((resolve) => {
      started = resolve;
    });
    const bot = await start((p) => {
      p.command('slow', { summary: '', attempts: 1, timeoutMs: 5_000 }, async (ctx) => {
        ctx.reply('too late');
        started();
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        reasons.push(ctx.signal.reason);
      });
    });

    const saying = bot.person('ann').says('/slow');
    await isRunning;
    await bot.clock.advance('5s');
    await saying;

    assert.match(String(reasons[0]), /its 5000 ms are over/);
    assert.deepEqual(masked(bot.shown('dm-ann')), ['Sorry, that failed (…).']);
  });

  it('waits 1 s, 5 s, 30 s, 2 min, then is a dead letter', async () => {
    const at: number[] = [];
    const bot = await start((p) => {
      p.command('go', { summary: '' }, (ctx) => {
        at.push(ctx.now());
        throw new Error('never');
      });
    });

    await bot.person('ann').says('/go');
    await bot.clock.advance('1h');

    assert.deepEqual(
      at.slice(1).map((time, i) => time - (at[i] ?? 0)),
      [1_000, 5_000, 30_000, 120_000],
    );
    assert.deepEqual(masked(bot.shown('dm-ann')), ['Sorry, that failed (…).']);
    assert.equal(bot.dead().length, 1);
  });
});

describe('the context', () => {
  it('throws after its handler, inside once, and for a step used twice (CONTEXT-3)', async () => {
    const late: (() => unknown)[] = [];
    const bot = await start((p) => {
      p.command('late', { summary: '', attempts: 1 }, async (ctx) => {
        const file = await ctx.saveFile('a.txt', 'text/plain', Buffer.from('a'));
        late.push(
          () => ctx.reply('late'),
          () => ctx.typing(),
          () => ctx.readFile(file),
          () => ctx.saveFile('b.txt', 'text/plain', Buffer.from('b')),
        );
      });
      p.command('inside', { summary: '', attempts: 1 }, async (ctx) => {
        await ctx.once('a', () => {
          ctx.reply('lost on a retry');
        });
      });
      p.command('twice', { summary: '', attempts: 1 }, async (ctx) => {
        await ctx.once('a', () => 1);
        await ctx.once('a', () => 2);
      });
    });

    for (const command of ['late', 'inside', 'twice']) await bot.person('ann').says(`/${command}`);

    assert.equal(late.length, 4);
    for (const call of late)
      await assert.rejects(async () => call(), { code: 'ctx_closed', message: /await is missing/ });
    assert.match(errorsOf(bot), /inside once\("a"\)/);
    assert.match(errorsOf(bot), /step "a" is used twice/);
  });

  it('runs a handler again when state that it had read has moved', async () => {
    let disturb = true;
    const bot: MemoryBot = await start((p) => {
      const n = p.state('n', { scope: 'plugin', value: t.integer() });
      p.command('add', { summary: '' }, async (ctx) => {
        const seen = (await ctx.get(n)) ?? 0;
        if (disturb) {
          disturb = false;
          await bot.person('bob').says('/add');
        }
        ctx.set(n, seen + 1);
        return `${seen + 1}`;
      });
    });

    await bot.person('ann').says('/add');

    assert.deepEqual([bot.shown('dm-bob'), bot.shown('dm-ann')], [['1'], ['2']]);
  });

  it('wants to know what to expect of a value that it has not read', async () => {
    const bot = await start((p) => {
      const n = p.state('n', { scope: 'user', value: t.integer() });
      p.command('blind', { summary: '', attempts: 1 }, (ctx) => ctx.set(n, 1));
      p.command('any', { summary: '' }, (ctx) => ctx.set(n, 2, 'any'));
      p.command('mine', { summary: '' }, async (ctx) => `${await ctx.get(n)}`);
    });

    for (const command of ['blind', 'any', 'mine']) await bot.person('ann').says(`/${command}`);
    await bot.person('bob').says('/mine');

    assert.match(errorsOf(bot), /read it first with ctx\.get, or .*'any'/);
    assert.deepEqual([bot.shown('dm-ann').at(-1), bot.shown('dm-bob')], ['2', ['undefined']]);
  });

  it('lists state in order, by prefix and page', async () => {
    const bot = await start((p) => {
      const notes = p.state('notes', { scope: 'conversation', value: t.string() });
      p.command('put', { summary: '', args: { key: t.string(), text: t.rest() } }, (ctx, { key, text }) =>
        ctx.set(notes.at(key), text, 'any'),
      );
      p.command('del', { summary: '', args: { key: t.string() } }, (ctx, { key }) => ctx.unset(notes.at(key)));
      p.command('all', { summary: '', args: { after: t.optional(t.string()) } }, async (ctx, { after }) => {
        const page = await ctx.list(notes, { prefix: 'a', limit: 2, ...(after === undefined ? {} : { after }) });
        return page.map(([key, text]) => `${key}=${text}`).join();
      });
    });

    const ann = bot.person('ann');
    for (const line of [
      '/put a2 two',
      '/put a1 one',
      '/put b1 no',
      '/put a3 three',
      '/put a0 gone',
      '/del a0',
      '/all',
      '/all a2',
    ])
      await ann.says(line);

    assert.deepEqual(bot.shown('dm-ann'), ['a1=one,a2=two', 'a3=three']);
  });
});

describe('handlers of a message', () => {
  it('come before, one claimant, normal, after; stop ends it', async () => {
    const seen: string[] = [];
    const bot = await start((p) => {
      p.on('message', { order: 'after' }, () => {
        seen.push('after');
      });
      p.on('message', {}, (ctx, m) => {
        seen.push('normal');
        if (m.text === 'quiet') ctx.stop();
      });
      p.on('message', { order: 'before', text: /spam/ }, (ctx) => {
        seen.push('before');
        ctx.stop();
      });
      p.command('hi', { summary: '' }, () => {
        seen.push('command');
      });
    });
    const runs = async (text: string): Promise<string> => {
      seen.length = 0;
      await bot.person('ann').says(text);
      return seen.join();
    };

    assert.equal(await runs('hello'), 'normal,after');
    assert.equal(await runs('quiet'), 'normal');
    assert.equal(await runs('/hi'), 'command');
    assert.equal(await runs('/hi spam'), 'before');
  });

  it('never come a second time when the process dies after their commit', () =>
    everyCrash(
      () =>
        start((p) => {
          const dialog = p.dialog(
            'd',
            { answers: { name: t.string({ title: 'Name?' }) } },
            (_ctx, { name }) => `Hi ${name}`,
          );
          p.command('go', { summary: '' }, (ctx) => ctx.ask(dialog));
          p.on('message', { order: 'after' }, () => 'fallback');
        }),
      async (bot) => {
        await bot.person('ann').says('/go');
        await bot.person('ann').says('Ann');
      },
      (bot, point) => assert.deepEqual(bot.shown('dm-ann'), ['Name?', 'Hi Ann'], point),
    ));

  it('hold back only themselves when they fail; a failing before the rest too', async () => {
    const bot = await start((p) => {
      p.on('message', { order: 'before', text: /^first/ }, (ctx) => {
        if (ctx.item.attempt === 1) throw new Error('again');
      });
      p.on('message', { text: /^second/ }, (ctx) => {
        if (ctx.item.attempt === 1) throw new Error('again');
        return 'second';
      });
      p.on('message', { order: 'after' }, () => 'after');
    });

    await bot.person('ann').says('second');
    assert.deepEqual(bot.shown('dm-ann'), ['after']);
    await bot.clock.advance('1s');
    assert.deepEqual(bot.shown('dm-ann'), ['after', 'second']);

    await bot.person('bob').says('first');
    assert.deepEqual(bot.shown('dm-bob'), []);
    await bot.clock.advance('1s');
    assert.deepEqual(bot.shown('dm-bob'), ['after']);
  });
});

describe('stored work', () => {
  it('finds its handler under a new name, and old state is upgraded', async () => {
    const bot = await start((p) => {
      const n = p.state('n', { scope: 'plugin', value: t.integer() });
      const fire = p.task('fire', { data: { to: t.conversation() } }, () => {});
      p.command('go', { summary: '' }, (ctx) => {
        ctx.schedule(fire, { to: ctx.conversation }, { afterMs: 1_000 });
        ctx.set(n, 1, 'absent');
      });
    });
    await bot.person('ann').says('/go');

    await bot.restart(
      one((p) => {
        const n = p.state('n', {
          scope: 'plugin',
          value: t.object({ n: t.integer() }),
          upgrade: (old) => ({ n: Number(old) }),
        });
        p.task('ring', { formerly: ['fire'], data: { to: t.conversation() } }, async (ctx, { to }) => {
          ctx.send(to, `ring ${(await ctx.get(n))?.n}`);
        });
      }),
    );
    await bot.clock.advance('1s');

    assert.deepEqual(bot.shown('dm-ann'), ['ring 1']);
  });

  it('becomes a dead letter that names it when its handler is gone', async () => {
    const bot = await start((p) => {
      const fire = p.task('fire', { data: {} }, () => {});
      p.command('go', { summary: '' }, (ctx) => ctx.schedule(fire, {}, { afterMs: 1_000 }));
    });
    await bot.person('ann').says('/go');

    await bot.restart(one(() => {}));
    await bot.clock.advance('1s');

    assert.equal(bot.dead().length, 1);
    assert.match(errorsOf(bot), /root\/x#task\/fire is gone/);
  });

  it('under a key replaces the earlier one, and can be cancelled', async () => {
    const bot = await start((p) => {
      type Data = { to: { endpoint: string; id: string; thread?: string }; n: number };
      const ring: Task<Data> = p.task('ring', { data: { to: t.conversation(), n: t.integer() } }, (ctx, { to, n }) => {
        ctx.send(to, `${n}`);
      });
      p.command('set', { summary: '', args: { n: t.integer() } }, (ctx, { n }) =>
        ctx.schedule(ring, { to: ctx.conversation, n }, { afterMs: 1_000, key: ctx.user.id }),
      );
      p.command('off', { summary: '' }, (ctx) => ctx.cancel(ring, ctx.user.id));
    });

    for (const line of ['/set 1', '/set 2']) await bot.person('ann').says(line);
    for (const line of ['/set 3', '/off']) await bot.person('bob').says(line);
    await bot.clock.advance('1m');

    assert.deepEqual([bot.shown('dm-ann'), bot.shown('dm-bob')], [['2'], []]);
  });

  it('keeps the order of its lane, retries included', async () => {
    const log: number[] = [];
    const bot = await start((p) => {
      const step = p.task('step', { data: { n: t.integer() }, lane: () => 'one' }, (ctx, { n }) => {
        if (n === 1 && ctx.item.attempt === 1) throw new Error('again');
        log.push(n);
      });
      p.command('go', { summary: '' }, (ctx) => {
        for (const n of [1, 2, 3]) ctx.schedule(step, { n });
      });
    });

    await bot.person('ann').says('/go');
    assert.deepEqual(log, []);
    await bot.clock.advance('1s');

    assert.deepEqual(log, [1, 2, 3]);
  });
});
