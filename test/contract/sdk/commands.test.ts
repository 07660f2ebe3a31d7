// Commands in all their forms: typed, spoken, chosen from a menu; read, refused, and refused at assembly.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from 'svc';
import { Type } from 'typebox';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';
import type { TestBotOptions } from '../../../worker/testing/test-bot.ts';
import remind from '../samples/remind.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const start = (setup: SetupOf, options?: TestBotOptions): Promise<MemoryBot> =>
  startBot(definePlugin({ name: 'x', setup }), options);

describe('a command', () => {
  it('takes schemas of TypeBox too, and says what is wrong with its arguments', async () => {
    const config = { days: Type.Integer({ default: 3 }), note: Type.Optional(Type.String()) };
    const args = { n: Type.Integer({ minimum: 2 }), who: Type.Optional(Type.String()) };
    const bot = await startBot(
      definePlugin({
        name: 'tb',
        config,
        setup(p) {
          p.command(
            'x',
            { summary: '', args },
            (_ctx, { n, who }) => `${p.config.days + n} ${who ?? 'nobody'} ${p.config.note ?? '-'}`,
          );
        },
      }),
      { can: { text: { limit: 400, unit: 'utf16', render: 'plain' } } },
    );

    await bot.person('ann').says('/x 4');
    await bot.person('ann').says('/x 1 bob');

    assert.deepEqual(bot.shown('dm-ann'), ['7 nobody -', 'n: expected at least 2, got 1\nUsage: /x <n> [who]']);
  });

  it('is typed, spoken to the bot, or chosen from the menu of the platform', async () => {
    const bot = await startBot(remind);
    const ann = bot.person('ann', { in: 'room' });

    await ann.says('remind me in 10m to x');
    assert.deepEqual(bot.shown('room'), []);
    await ann.says('remind me in 10m to x', { addressed: true });
    const user = { id: 'ann', name: 'Ann', admin: false };
    await bot.arrive({
      id: 'n1',
      kind: 'command',
      name: 'remind',
      args: { in: '5m', text: 'y' },
      sentAt: 0,
      conversation: { id: 'room', kind: 'group' },
      user,
    });

    assert.deepEqual(bot.shown('room'), ['I will remind you in 10m.', 'I will remind you in 5m.']);
  });

  it('is spoken over several lines, and not found in an endless text', async () => {
    const bot = await startBot(remind);
    const ann = bot.person('ann');

    await ann.says('remind me in 10m to buy\n- milk\n- tea');
    await ann.says(`remind me in ${' to '.repeat(250_000)}\n`);
    await bot.clock.advance('10m');

    assert.deepEqual(bot.shown('dm-ann'), ['I will remind you in 10m.', '@ann reminder: buy\n\\- milk\n\\- tea']);
  });

  it('is for those whom it names', async () => {
    const bot = await start((p) => {
      p.command('boss', { summary: '', who: 'admin', aliases: ['b'] }, () => 'yes');
      p.command('root', { summary: '', who: 'operator' }, () => 'done');
    });

    for (const line of ['/boss', '/root']) await bot.person('ann').says(line);
    for (const line of ['/b', '/root']) await bot.person('ann', { admin: true }).says(line);

    assert.deepEqual(bot.shown('dm-ann'), ['Only admins may do that.', 'Only operators may do that.', 'yes', 'done']);
  });

  it('is refused at assembly when an example or a phrase does not fit it', async () => {
    const bad = (spec: object): Promise<unknown> =>
      start((p) => p.command('x', { summary: '', args: { n: t.integer() }, ...spec }, () => {}));

    await assert.rejects(bad({ examples: ['/x many'] }), /example does not parse: \/x many/);
    await assert.rejects(bad({ examples: ['/y 1'] }), /example is not this command/);
    await assert.rejects(bad({ phrases: ['do {m}'] }), /phrase names unknown argument \{m\}/);
    await assert.rejects(bad({ phrases: ['do {n} or {n}'] }), /phrase names \{n\} twice/);
  });

  it('takes times in words as arguments, options and answers, and in its examples', async () => {
    const bot = await start(
      (p) => {
        const day = p.dialog('day', { answers: { at: t.when({ title: 'When?' }) } }, (_ctx, { at }) => iso(at));
        const iso = (at: number | undefined): string => (at === undefined ? '-' : new Date(at).toISOString());
        const args = { note: t.rest(), at: t.option(t.when()), until: t.option(t.when()) };
        const examples = ['/x tea --at 10m', '/x tea --at "tomorrow at 9"'];
        p.command('x', { summary: '', args, examples }, (_ctx, { note, at, until }) =>
          [note, iso(at), iso(until)].join(' '),
        );
        p.command('ask', { summary: '' }, (ctx) => ctx.ask(day));
      },
      { startAt: '2026-11-27T09:00:00Z' },
    );
    const ann = bot.person('ann');

    for (const line of ['/x a --at "in 2 days" b', '/x a --until=1h', '/ask', 'someday', 'on monday at 8'])
      await ann.says(line);

    assert.deepEqual(bot.dead(), []);
    assert.deepEqual(
      bot.messages('dm-ann').map(({ text }) => text.replaceAll('\\', '')),
      [
        'a b 2026-11-29T09:00:00.000Z -',
        'a - 2026-11-27T10:00:00.000Z',
        'When?',
        'expected a time like "in 5 minutes" or "tomorrow at 9", got "someday"',
        'When?',
        '2026-11-30T08:00:00.000Z',
      ],
    );
    const bad = start((p) =>
      p.command('x', { summary: '', args: { at: t.when(), n: t.rest() }, examples: ['/x someday tea'] }, () => {}),
    );
    await assert.rejects(bad, /example does not parse: \/x someday tea: at: expected a time/);
  });

  it('has phrases with any names of arguments, whose other signs mean nothing', async () => {
    const bot = await start((p) => {
      const args = { '1st': t.integer(), 'größe-in-m': t.string() };
      p.command('x', { summary: '', args, phrases: ['(a) {1st}+{größe-in-m}?'] }, (_ctx, given) =>
        JSON.stringify(given),
      );
    });

    await bot.person('ann').says('(a) 5+Zwölf?');
    await bot.person('ann').says('a 5+Zwölf');

    assert.deepEqual(bot.dead(), []);
    assert.deepEqual(
      bot.messages('dm-ann').map(({ text }) => text.replaceAll('\\', '')),
      ['{"1st":5,"größe-in-m":"Zwölf"}'],
    );
  });

  it('is refused at assembly when nobody could type its name', async () => {
    const bad = (name: string, aliases: readonly string[] = []): Promise<unknown> =>
      start((p) => p.command(name, { summary: '', aliases }, () => {}));

    await assert.rejects(bad('two words'), /root\/x#command\/two words: a name is one word, not "two words"/);
    await assert.rejects(bad(''), /is one word, not ""/);
    await assert.rejects(bad('/x'), /its prefix is not part of a name/);
    await assert.rejects(
      bad('x', ['y  z']),
      /root\/x#command\/x: an alias is words with one space between them, not "y  z"/,
    );
  });

  it('takes a person who is mentioned, and a list in a phrase or by name', async () => {
    const bot = await start((p) => {
      p.command('kick', { summary: '', args: { who: t.user(), why: t.optional(t.rest()) } }, (ctx, { who, why }) => {
        ctx.send(who, `out of ${ctx.conversation.id}: ${why}`);
      });
      const all = { all: t.array(t.integer()), loud: t.optional(t.boolean()) };
      p.command('sum', { summary: '', args: all, phrases: ['add {all}'] }, (_ctx, args) => args.all.join('+'));
    });
    const ann = bot.person('ann', { in: 'room' });
    const base = {
      sentAt: 0,
      conversation: { id: 'room', kind: 'group' },
      user: { id: 'a', name: 'A', admin: false },
    } as const;
    const bob = { endpoint: '', id: 'U0BOB' };

    await bot.arrive({
      ...base,
      id: 'n1',
      kind: 'message',
      message: 'p1',
      text: [
        { kind: 'text', text: '/kick ' },
        { kind: 'mention', user: bob },
        { kind: 'text', text: ' too loud' },
      ],
    });
    await bot.arrive({ ...base, id: 'n2', kind: 'command', name: 'kick', args: { who: 'U0EVE' } });
    await ann.says('/kick @nobody');
    await ann.says('add 1 2 3', { addressed: true });
    await ann.says('/sum --all "4 5" --loud');

    assert.deepEqual(
      [bot.shown('dm-U0BOB'), bot.shown('dm-U0EVE')],
      [['out of room: too loud'], ['out of room: undefined']],
    );
    assert.deepEqual(
      bot.shown('room').map((text) => text.split('\n')[0]),
      ['who: expected a user {endpoint, id}, in chat a mention, got "@nobody"', '1+2+3', '4+5'],
    );
  });
});
