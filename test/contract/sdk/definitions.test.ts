// What types say and plain JavaScript may get wrong is refused at assembly: otherwise it would never happen, and nobody would be told.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from 'svc';
import { testBot } from 'svc/testing';

type P = Parameters<Parameters<typeof definePlugin>[0]['setup']>[0];
/** As JavaScript sees it. */
type Loose = { readonly [K in keyof P]: (...given: readonly unknown[]) => unknown };

const nothing = (): void => {};
const hook = { body: t.object({}), verify: nothing, delivery: nothing };
const BAD: readonly (readonly [what: string, setup: (p: Loose) => unknown, said: RegExp])[] = [
  ['a kind', (p) => p.on('mesage', {}, nothing), /#on\/mesage: there is no kind mesage: known are message, edited/],
  [
    'an order',
    (p) => p.on('message', { order: 'first' }, nothing),
    /order is "first": known are before, normal, after/,
  ],
  ['a place', (p) => p.on('message', { where: 'dm' }, nothing), /where is "dm": known are private, group/],
  ['a handler', (p) => p.command('x', { summary: '' }), /root\/x#command\/x: its handler is not a function/],
  ['a spec', (p) => p.command('x', undefined, nothing), /root\/x#command\/x: its spec is not an object/],
  ['who', (p) => p.command('x', { summary: '', who: 'me' }, nothing), /who is "me": known are anyone, admin, operator/],
  ['a time limit', (p) => p.command('x', { timeoutMs: 0 }, nothing), /timeoutMs is 0: it has to be above 0/],
  [
    'attempts',
    (p) => p.task('x', { data: {}, attempts: 0.5 }, nothing),
    /attempts is 0.5: it has to be a whole number/,
  ],
  ['a method', (p) => p.route('PATCH /a', { scope: 'none' }, nothing), /PATCH \/a: methods are GET, POST, PUT, DELETE/],
  ['a parameter', (p) => p.route('GET /a/:id', { scope: 'none' }, nothing), /a path is taken as it is/],
  ['a path', (p) => p.route('GET a', { scope: 'none' }, nothing), /a path is taken as it is/],
  ['a scope', (p) => p.route('GET /a', { scope: 'all' }, nothing), /scope is "all": known are none, demo, full/],
  ['an address', (p) => p.webhook('a/b', hook, nothing), /a name in an address is of a-z/],
  ['a name', (p) => p.on('message', { name: 5 }, nothing), /#on\/5: name has to be a text/],
  ['old names', (p) => p.on('message', { formerly: 'x' }, nothing), /formerly has to be a list of texts/],
  [
    'an old name that is there',
    (p) => (p.task('x', { data: {} }, nothing), p.task('y', { data: {}, formerly: ['x'] }, nothing)),
    /#task\/y: formerly names root\/x#task\/x, which is there/,
  ],
  [
    'an old name of two',
    (p) => ['x', 'y'].map((name) => p.cron(name, { at: '0 3 * * *', formerly: ['z'] }, nothing)),
    /#cron\/y: formerly names root\/x#cron\/z, and so does root\/x#cron\/x/,
  ],
  ['a summary', (p) => p.command('x', {}, nothing), /root\/x#command\/x: summary is missing/],
  ['a key', (p) => p.on('message', { addresed: true }, nothing), /there is no key addresed; did you mean addressed\?/],
  ['a far key', (p) => p.cron('x', { at: '0 3 * * *', every: 5 }, nothing), /no key every: known are at, timeoutMs, /],
  [
    'arguments in one',
    (p) => p.command('x', { summary: '', args: t.object({}) }, nothing),
    /args is one schema, and has/,
  ],
  [
    'no schema',
    (p) => p.command('x', { summary: '', args: { n: 'text' } }, nothing),
    /args has no schema for n: \{ n: /,
  ],
  ['a secret', (p) => p.command('x', { summary: '', args: { n: t.secret() } }, nothing), /argument n is a secret/],
  ['aliases', (p) => p.command('x', { summary: '', aliases: 'y' }, nothing), /aliases has to be a list of texts/],
  ['a flag', (p) => p.on('message', { addressed: 'yes' }, nothing), /addressed has to be true or false/],
  [
    'what to do if missed',
    (p) => p.cron('x', { at: '0 3 * * *', missed: 'run' }, nothing),
    /missed is "run": known are/,
  ],
  ['a time', (p) => p.cron('x', {}, nothing), /root\/x#cron\/x: at is missing/],
  ['no data', (p) => p.task('x', {}, nothing), /root\/x#task\/x: data is missing/],
  ['no answers', (p) => p.dialog('x', {}, nothing), /root\/x#dialog\/x: answers is missing/],
  [
    'a step',
    (p) => p.dialog('x', { answers: { a: t.string() }, steps: { b: {} } }, nothing),
    /steps names b, which is no answer: known are a/,
  ],
  ...[Infinity, 0, '5m', Number.NaN].map(
    (expiresMs) =>
      [
        `an end of ${expiresMs}`,
        (p: Loose) => p.dialog('x', { answers: {}, expiresMs }, nothing),
        new RegExp(`#dialog/x: expiresMs is ${expiresMs}: it has to be milliseconds above 0`),
      ] as const,
  ),
  [
    'a pattern',
    (p) => p.command('x', { summary: '', args: { a: t.string({ pattern: '(' }) } }, nothing),
    /root\/x#command\/x: args is no schema that could be used: Invalid regular expression: \/\(\//,
  ],
  [
    'a word of a schema',
    (p) => p.task('x', { data: { list: t.array({ type: 'integer', minimun: 1 } as never) } }, nothing),
    /data is no schema that could be used: strict mode: unknown keyword: "minimun"/,
  ],
  [
    'a format',
    (p) => p.webhook('x', { ...hook, body: { type: 'string', format: 'nonsense' } }, nothing),
    /body is no schema that could be used: unknown format "nonsense"/,
  ],
  [
    'a bound',
    (p) => p.state('s', { scope: 'plugin', value: { type: 'integer', minimum: '1' } }),
    /value is no schema that could be used: .*minimum/,
  ],
  [
    'a default of another type',
    (p) => p.command('x', { summary: '', args: { n: t.integer({ default: 'soon' }) } }, nothing),
    /#command\/x: args has a default that does not fit its own schema: n: expected a whole number, got "soon"/,
  ],
  [
    'a default out of bounds',
    (p) => p.command('x', { summary: '', args: { n: t.integer({ default: 0, minimum: 1 }) } }, nothing),
    /args has a default .*: n: expected at least 1, got 0/,
  ],
  [
    'a default that is none of the words',
    (p) => p.dialog('x', { answers: { size: t.enum(['small', 'large'], { default: 'big' }) } }, nothing),
    /answers has a default .*: size: expected one of small, large, got "big"/,
  ],
  [
    'a default that is no time',
    (p) => p.task('x', { data: { wait: t.duration({ default: 'soon' }) } }, nothing),
    /data has a default .*: wait: expected .*, got "soon"/,
  ],
  [
    'a default inside',
    (p) =>
      p.state('s', {
        scope: 'plugin',
        value: t.object({ list: t.array(t.object({ n: t.integer({ default: 1.5 }) })) }),
      }),
    /value has a default .*: list.\[\].n: expected a whole number, got 1.5/,
  ],
  ['no proof', (p) => p.webhook('x', { ...hook, verify: undefined }, nothing), /verify is missing/],
  ['a proof', (p) => p.webhook('x', { ...hook, verify: 'hmac' }, nothing), /verify has to be a function/],
  ['no event', (p) => p.subscribe('inbox.done', nothing), /x: subscribe takes an event: defineEvent\(type, schema\)/],
  ['a tool', (p) => p.tool({ name: 'x', run: nothing }), /root\/x#tool\/x: description is missing/],
  [
    'an approval',
    (p) => p.tool({ name: 'x', description: '', input: {}, approval: 'often', run: nothing }),
    /approval is "often": known are never, always/,
  ],
  ['no value', (p) => p.state('s', { scope: 'plugin' }), /state x\/s of root\/x: value has to be a schema/],
  ['an owner', (p) => p.state('s', { scope: 'room', value: t.string() }), /state x\/s of root\/x: scope is "room"/],
];

describe('a definition', () => {
  for (const [what, setup, said] of BAD)
    it(`is refused when nothing would come of it: ${what}`, async () => {
      const plugin = definePlugin({ name: 'x', setup: (p) => void setup(p as unknown as Loose) });

      await assert.rejects(testBot(plugin), { code: 'definition_invalid', message: said });
    });

  for (const [uses, said, hint] of [
    [
      ['agents'],
      /root\/x uses agents, which this host does not have configured/,
      /has no agents: take it out of `uses`/,
    ],
    [['agnets'], /root\/x uses agnets, which no host has: did you mean agents\?/, undefined],
    ['commands', /root\/x: uses has to be a list: uses: \['commands'\]/, undefined],
  ] as const)
    it(`is refused when it uses what is not there: ${String(uses)}`, async () => {
      const plugin = definePlugin({ name: 'x', uses: uses as unknown as [], setup: nothing });

      await assert.rejects(testBot(plugin), (error: Error & { readonly hint?: string }) => {
        assert.match(error.message, said);
        assert.match(error.hint ?? '', hint ?? /^$/);
        return true;
      });
    });

  it('may have defaults of every kind', async () => {
    const said: unknown[] = [];
    const args = {
      n: t.integer({ default: 5, minimum: 1, maximum: 5 }),
      part: t.number({ default: 0.5 }),
      yes: t.boolean({ default: false }),
      word: t.string({ default: 'äö', minLength: 2, maxLength: 2, pattern: '^..$' }),
      size: t.enum(['small', 'large'], { default: 'large' }),
      wait: t.duration({ default: '10m' }),
      later: t.duration({ default: 5 }),
      list: t.array(t.object({ of: t.string() }), { default: [{ of: 'a' }], maxItems: 1 }),
      words: t.array(t.string(), { default: ['a'], minItems: 1 }),
      who: t.user({ default: { endpoint: 'fake', id: 'ann' } }),
      text: t.rest({ default: '' }),
    };
    const plugin = definePlugin({
      name: 'x',
      setup: (p) => p.command('x', { summary: '', args }, (_ctx, given) => void said.push(given)),
    });
    const bot = await testBot(plugin);

    await bot.person('ann').says('/x');

    assert.deepEqual(said, [
      {
        n: 5,
        part: 0.5,
        yes: false,
        word: 'äö',
        size: 'large',
        wait: 600_000,
        later: 5,
        list: [{ of: 'a' }],
        words: ['a'],
        who: { endpoint: 'fake', id: 'ann' },
        text: '',
      },
    ]);
  });

  it('has a line of log for a tool, which nothing calls yet', async () => {
    const tool = { name: 'find', description: 'Finds', input: {}, run: nothing };
    const bot = await testBot(definePlugin({ name: 'x', setup: (p) => p.tool(tool) }));

    const warnings = bot.logs.filter((line) => (line as { readonly level?: string }).level === 'warn');
    assert.match(JSON.stringify(warnings), /"root\/x#tool\/find".*nothing calls this tool/);
  });

  it('is refused when its module exports none', async () => {
    await assert.rejects(testBot(undefined as unknown as ReturnType<typeof definePlugin>), {
      code: 'definition_invalid',
      message: 'not a svc definition: export default definePlugin(…)',
    });
  });

  it('is refused when its configuration is one schema', async () => {
    const config = t.object({ n: t.integer() }) as unknown as Record<string, never>;

    await assert.rejects(testBot(definePlugin({ name: 'x', config, setup: nothing })), {
      code: 'definition_invalid',
      message: /^root\/x: config is one schema, and has to name one for each value/,
    });
  });

  for (const key of ['use', 'enabled', 'endpoints'])
    it(`is refused with a key of its own that is the host's: ${key}`, async () => {
      const plugin = definePlugin({ name: 'x', config: { [key]: t.optional(t.boolean()) }, setup: nothing });

      await assert.rejects(testBot(plugin), {
        code: 'definition_invalid',
        message: new RegExp(
          `root/x: its own key "${key}" could never be reached: use, enabled, endpoints are the host's`,
        ),
      });
    });

  for (const [what, config, said] of [
    [
      'too small',
      { limit: t.integer({ default: 0, minimum: 1 }) },
      /root\/x: the default of its key limit does not fit its own schema: expected at least 1, got 0/,
    ],
    ['no duration', { wait: t.duration({ default: 'soon' }) }, /root\/x: the default of its key wait does not fit/],
    [
      'of another type',
      { on: t.boolean({ default: 'yes' as unknown as boolean }) },
      /root\/x: the default of its key on does not fit/,
    ],
    [
      'wrong within',
      { room: t.object({ size: t.integer({ default: 'x' as unknown as number }) }, { default: {} }) },
      /root\/x: the default of its key room.size does not fit/,
    ],
    [
      'a wrong whole',
      { room: t.object({ size: t.integer() }, { default: { size: 'x' } }) },
      /root\/x: the default of its key room does not fit/,
    ],
    [
      'short of a key',
      { room: t.object({ size: t.integer() }, { default: {} }) },
      /root\/x: the default of its key room does not fit/,
    ],
  ] as const)
    it(`is refused with a default of a key that does not fit: ${what}`, async () => {
      const plugin = definePlugin({ name: 'x', config, setup: nothing });

      await assert.rejects(testBot(plugin), { code: 'definition_invalid', message: said });
    });

  it('is taken for a route that names no scope, whose default is full', async () => {
    const plugin = definePlugin({ name: 'x', setup: (p) => void (p as unknown as Loose).route('GET /a', {}, nothing) });

    await assert.doesNotReject(testBot(plugin));
  });

  it('is refused when keys of its configuration are no schemas', async () => {
    const plugin = definePlugin({ name: 'x', config: { a: t.string({ pattern: '(' }) }, setup() {} });

    await assert.rejects(testBot(plugin, { config: { a: 'b' } }), {
      code: 'definition_invalid',
      message: /root\/x: config is no schema that could be used: Invalid regular expression/,
    });
  });
});
