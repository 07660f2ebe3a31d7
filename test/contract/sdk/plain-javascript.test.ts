// What the types of the SDK refuse and plain JavaScript does not know: told by name, and never something else than it says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ChatCtx, defineAdapter, definePlugin, type State, t } from 'svc';
import { adapterBench, adapterContract, testBot } from 'svc/testing';

const numbers = t.record(t.integer());
type Numbers = State<Record<string, number>>;

/** What people saw of "/go" and what its failure said. */
async function went(scope: 'plugin' | 'user' | 'conversation', run: (ctx: ChatCtx, state: Numbers) => unknown) {
  const plugin = definePlugin({
    name: 'x',
    setup(p) {
      const state = p.state('s', { scope, value: numbers });
      p.command('go', { summary: 'Goes', attempts: 1 }, async (ctx) => JSON.stringify((await run(ctx, state)) ?? null));
      p.command('next', { summary: 'Comes after it' }, () => 'here');
    },
  });
  const bot = await testBot(plugin);
  await bot.person('ann').says('/go');
  await bot.person('ann').says('/next');
  const logs = bot.logs as { readonly message?: string; readonly err?: Error }[];
  const text = logs.find(({ message }) => message === 'handler failed')?.err?.message ?? '';
  const shown = bot.shown('dm-ann');
  await bot.stop();
  assert.equal(shown[1], 'here', 'the next one is handled');
  return { text, shown: shown[0] };
}

describe('state', () => {
  it('refuses keys, owners and pages that are none, and the conversation goes on', async () => {
    const wrong: readonly (readonly [(ctx: ChatCtx, state: Numbers) => unknown, RegExp])[] = [
      [(ctx, state) => ctx.set(state.at(5 as never), {}, 'any'), /key of a value has to be a text/],
      [(ctx, state) => ctx.get(state.at(undefined as never)), /key of a value has to be a text/],
      [(ctx, state) => ctx.set(state.of(undefined as never).at('k'), {}, 'any'), /of\(…\) has to get/],
      [(ctx, state) => ctx.get(state.of({ id: 'ann' } as never).at('k')), /of\(…\) has to get/],
      [(ctx, state) => ctx.list(state, { limit: Number.NaN }), /limit a whole number/],
      [(ctx, state) => ctx.list(state, { limit: -1 }), /limit a whole number/],
      [(ctx, state) => ctx.list(state, { limit: '5' as never }), /limit a whole number/],
      [(ctx, state) => ctx.list(state, { after: 5 as never }), /prefix and after have to be texts/],
      [(ctx, state) => ctx.set(state.at('k'), {}, Promise.resolve(1) as never), /expect has to be 'absent', 'any' or/],
      [(ctx, state) => ctx.set(state.at('k'), {}, 'gone' as never), /expect has to be 'absent', 'any' or a revision/],
      [(ctx, state) => ctx.set(state.at('k'), {}, -1), /expect has to be 'absent', 'any' or a revision/],
    ];
    for (const [run, told] of wrong) assert.match((await went('user', run)).text, told);
  });

  it('of two owners is two, whatever is in their ids and keys', async () => {
    const { shown } = await went('conversation', async (ctx, state) => {
      const of = (id: string): Numbers => state.of({ endpoint: 'fake', id });
      ctx.set(of('a').at('b|k'), { n: 1 }, 'any');
      return (await ctx.get(of('a|b').at('k'))) ?? 'nothing';
    });
    assert.equal(shown, '"nothing"');
  });

  it('lists what the same run has set and removed, as `get` gives it, a page at a time', async () => {
    const pages: unknown[] = [];
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        const state = p.state('s', { scope: 'plugin', value: t.integer() });
        p.command('fill', { summary: '' }, (ctx) => {
          for (const key of ['b', 'd', 'f', '\u{1f600}']) ctx.set(state.at(key), 1, 'absent');
        });
        p.command('go', { summary: '' }, async (ctx) => {
          for (const key of ['a', 'd', 'e', '\uff5e']) ctx.set(state.at(key), 2, 'any');
          for (const key of ['b', 'e']) ctx.unset(state.at(key));
          for (let after = ''; ; ) {
            const page = await ctx.list(state, { limit: 2, ...(after === '' ? {} : { after }) });
            if (page.length === 0) break;
            pages.push(page);
            after = page.at(-1)?.[0] ?? '';
          }
          pages.push(await ctx.list(state, { prefix: 'd' }));
        });
        p.command('look', { summary: '' }, async (ctx) => void pages.push(await ctx.list(state)));
      },
    });
    const bot = await testBot(plugin);

    for (const line of ['/fill', '/go', '/look']) await bot.person('ann').says(line);

    const all = [
      ['a', 2],
      ['d', 2],
      ['f', 1],
      ['\uff5e', 2],
      ['\u{1f600}', 1],
    ];
    assert.deepEqual(pages, [all.slice(0, 2), all.slice(2, 4), all.slice(4), [['d', 2]], all]);
    await bot.stop();
  });

  it('of a person is that of the person, by the short name of the account as well', async () => {
    const { shown } = await went('user', async (ctx, state) => {
      ctx.set(state.of({ endpoint: 'fake', id: 'ann' }).at('k'), { n: 1 }, 'any');
      return (await ctx.get(state.at('k')))?.['n'];
    });
    assert.equal(shown, '1');
  });
});

describe('a value that the same run has set', () => {
  it('is read as a later run reads it: a person stays one, and what is done to the object is not stored', async () => {
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        const state = p.state('s', { scope: 'plugin', value: t.object({ who: t.user(), list: t.array(t.integer()) }) });
        p.command('go', { summary: 'Goes' }, async (ctx) => {
          ctx.set(state, { who: ctx.user, list: [1] }, 'any');
          (await ctx.get(state))?.list.push(2);
          const now = await ctx.get(state);
          if (now !== undefined) ctx.send(now.who, String(now.list));
        });
      },
    });
    const bot = await testBot(plugin);

    await bot.person('ann', { in: 'room' }).says('/go');

    assert.deepEqual([bot.shown('dm-ann'), bot.shown('ann')], [['1'], []]);
    await bot.stop();
  });
});

describe('a file that is saved', () => {
  it('has a name, a type and bytes', async () => {
    const bytes = Buffer.from('x');
    const wrong: readonly (readonly [(ctx: ChatCtx) => unknown, RegExp])[] = [
      [(ctx) => ctx.saveFile(Promise.resolve('a') as never, '', bytes), /saveFile: name and mime have to be texts/],
      [(ctx) => ctx.saveFile('a', (() => '') as never, bytes), /saveFile: name and mime have to be texts/],
      [(ctx) => ctx.saveFile('a', '', 'text' as never), /saveFile: bytes has to be a Uint8Array/],
    ];
    for (const [run, told] of wrong) assert.match((await went('plugin', run)).text, told);
  });
});

describe('once', () => {
  it('refuses results of which JSON would keep nothing, and time limits that are none', async () => {
    const results: readonly (readonly [value: unknown, told: RegExp])[] = [
      [new Map([[1, 2]]), /step "s": gives a Map, which JSON cannot hold: return what is needed of it/],
      [{ a: [new Set()] }, /gives a Set at \/a\/0, which/],
      [new Response('x'), /gives a Response, which/],
      [() => 1, /gives a function, which/],
      [Symbol('x'), /gives a symbol, which/],
    ];
    for (const [value, told] of results)
      assert.match((await went('plugin', (ctx) => ctx.once('s', () => value))).text, told);
    for (const timeoutMs of [0, -1, Number.NaN, 'x' as never])
      assert.match((await went('plugin', (ctx) => ctx.once('s', () => 1, { timeoutMs }))).text, /it has to be above 0/);
  });

  it('gives what JSON keeps, under a time limit of any length', async () => {
    const value = { at: new Date(0), none: undefined, list: [undefined, new URL('http://a/')], f: () => 1 };
    const { shown } = await went('plugin', (ctx) => ctx.once('s', () => value, { timeoutMs: Infinity }));
    assert.equal(shown?.replaceAll('\\', ''), '{"at":"1970-01-01T00:00:00.000Z","list":[null,"http://a/"]}');
  });

  it('tells its call when the time is over, by the clock of the bot', async () => {
    let calling = (): void => {};
    const isCalled = new Promise<void>((resolve) => {
      calling = resolve;
    });
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        p.command('go', { summary: 'Goes' }, (ctx) => {
          const call = ({ signal }: { readonly signal: AbortSignal }): Promise<string> => {
            calling();
            return new Promise((resolve) => signal.addEventListener('abort', () => resolve(String(signal.reason))));
          };
          return ctx.once('s', call, { timeoutMs: 5_000 });
        });
      },
    });
    const bot = await testBot(plugin);

    const saying = bot.person('ann').says('/go');
    await isCalled;
    await bot.clock.advance('5s');
    await saying;

    assert.match(String(bot.shown('dm-ann')), /its 5000 ms are over/);
    await bot.stop();
  });
});

describe('an adapter', () => {
  it('is refused where it does not say what its platform can', () => {
    const text = { limit: 100, unit: 'utf16', render: 'plain' };
    const bench = (more: object) => adapterBench(defineAdapter({ name: 'a', account: {}, send, ...more } as never), {});
    const send = async () => ({ kind: 'sent' });
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{}, /has no can\.text/],
      [{ can: {} }, /has no can\.text/],
      [{ can: { text: { ...text, limit: 0 } } }, /can\.text\.limit/],
      [{ can: { text: { ...text, limit: Number.NaN } } }, /can\.text\.limit/],
      [{ can: { text: { ...text, limit: '100' } } }, /can\.text\.limit/],
      [{ can: { text: { ...text, unit: 'chars' } } }, /can\.text\.unit/],
      [{ can: { text: { ...text, render: 'md' } } }, /can\.text\.render/],
      [{ can: { text, buttons: true } }, /can\.buttons/],
      [{ can: { text, files: true } }, /can\.files/],
      [{ can: { text }, rate: { perSecond: 0 } }, /rate\.perSecond/],
      [{ can: { text }, rate: { perConversation: 5 } }, /rate\.perConversation/],
    ];
    for (const [more, told] of wrong) assert.throws(() => bench(more), told);
    bench({ can: { text, buttons: 0, files: { maxBytes: 1 } }, rate: { perSecond: 0.5 } }).stop();
  });
});

describe('a misspelt or wrong option of the context', () => {
  for (const [run, told] of [
    [
      (ctx) => ctx.once('pay', () => 1, { unsure: 'hodl' } as never),
      /step "pay": unsure has to be one of again, hold$/,
    ],
    [(ctx) => ctx.once('pay', () => 1, { unsur: 'hold' } as never), /step "pay": there is no key unsur; did you mean/],
    [(ctx) => ctx.schedule({} as never, {}, { after: 1_000 } as never), /schedule: when: there is no key after/],
    [(ctx) => ctx.schedule({} as never, {}, '10m' as never), /schedule: when: expected an object$/],
  ] as readonly (readonly [(ctx: ChatCtx) => unknown, RegExp])[])
    it(`is refused: ${told.source}`, async () => {
      const { text, shown } = await went('plugin', run);

      assert.match(text, told);
      assert.match(String(shown), /^Sorry, that failed/);
    });
});

describe('a misspelt or wrong key', () => {
  const can = { text: { limit: 100, unit: 'utf16', render: 'plain' } };
  const nothing = (): void => {};
  const adapter = (more: object) => defineAdapter({ name: 'a', account: {}, can, send: nothing, ...more } as never);

  it('of an adapter is refused: what it should do would never be done', () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ catchup: nothing }, /^there is no key catchup; did you mean catchUp\?$/],
      [{ connect: true }, /^connect has to be a function$/],
      [{ can: { ...can, edits: true } }, /^can is wrong: there is no key edits; did you mean edit\?$/],
      [{ can: { ...can, edit: 'yes' } }, /^can is wrong: edit has to be true or false$/],
      [
        { can: { ...can, idempotent: { forMs: 0 } } },
        /^can is wrong: idempotent has to be true, false or \{ forMs \}, a number/,
      ],
      [{ webhook: { verify: nothing } }, /^webhook is wrong: parse is missing$/],
      [{ webhook: { verify: nothing, parse: nothing, chalenge: nothing } }, /did you mean challenge\?$/],
    ];
    for (const [more, message] of wrong)
      assert.throws(() => adapterBench(adapter(more), {}), { code: 'definition_invalid', message });
  });

  it('of a plugin is refused', async () => {
    const plugin = (more: object) => definePlugin({ name: 'x', setup: nothing, ...more });

    await assert.rejects(testBot(plugin({ confg: {} })), /there is no key confg; did you mean config\?/);
    await assert.rejects(testBot(plugin({ setUp: nothing })), /there is no key setUp; did you mean setup\?/);
  });

  it('of the bench and of fixtures is refused: a promise would not be tried', () => {
    const said = (message: RegExp) => ({ code: 'definition_invalid', message });
    assert.throws(
      () => adapterBench(adapter({}), {}, { comitted: {} } as never),
      said(/^adapterBench: there is no key comitted; did you mean committed\?$/),
    );
    assert.throws(
      () => adapterBench(adapter({}), {}, { files: { a: 'text' } } as never),
      said(/^adapterBench: files has to be bytes \(a Uint8Array\) by id$/),
    );
    const fixtures = { account: nothing, secrets: [], history: [] };
    for (const [more, message] of [
      [{ histroy: ['a', 'b'] }, /^a: fixtures: there is no key histroy; did you mean history\?$/],
      [{ history: 'abc' }, /^a: fixtures: history has to be a list of texts$/],
      [{ secrets: undefined }, /^a: fixtures: secrets is missing$/],
      [{ unsigned: ['byte'] }, /^a: fixtures: unsigned has to be a list of 'bytes' and 'time'$/],
    ] as const)
      assert.throws(() => adapterContract(adapter({}), { ...fixtures, ...more } as never), said(message));
    const reasons = (without: object) => adapterContract(adapter({}), { ...fixtures, without } as never);
    assert.throws(
      () => reasons({}),
      /^Error: a: .*: fixtures\.without\.\w+ may say why the platform has no such thing$/,
    );
    const all = ['webhook', 'connect', 'catchUp', 'check', 'slows', 'refuses', 'refused', 'idempotent'];
    const most = Object.fromEntries([...all, 'finds', 'edit', 'react', 'remove', 'secrets'].map((of) => [of, 'none']));
    assert.throws(
      () => reasons({ ...most, eidt: 'none' }),
      /fixtures\.without\.eidt gives a reason, and nothing is left out for it$/,
    );
    assert.throws(() => reasons({ edit: 5 }), said(/^a: fixtures: without has to be texts by what is missing$/));
    assert.throws(() => adapterContract(adapter({}), undefined as never), said(/^a: fixtures: expected an object$/));
  });
});

describe('a webhook', () => {
  it('tells deliveries apart by what they hold where their id is empty or null', async () => {
    for (const id of ['', null]) {
      const got: number[] = [];
      const plugin = definePlugin({
        name: 'x',
        setup: (p) =>
          p.webhook(
            'in',
            { body: t.object({ n: t.integer() }), verify: () => ({ kind: 'ok' }), delivery: () => id as never },
            (_ctx, { body }) => void got.push(body.n),
          ),
      });
      const bot = await testBot(plugin);
      for (const n of [1, 2]) assert.equal((await bot.post('x/in', { body: JSON.stringify({ n }) })).status, 202);
      assert.deepEqual(new Set(got), new Set([1, 2]));
      await bot.stop();
    }
  });
});
