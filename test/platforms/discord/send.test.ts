// What the adapter sends, as the fake Discord shows it, and what it makes of every way to refuse.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { toMarkdown } from '../../../worker/adapters/discord/text.ts';
import {
  type CommandInfo,
  type FileRef,
  md,
  mention,
  type Outgoing,
  type SendResult,
  t as schema,
} from '../../../worker/sdk/index.ts';
import { discordBench, FILE, textsOf } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

type Post = Partial<Extract<Outgoing, { readonly kind: 'post' | 'edit' }>>;
const post = (more: Post = {}): Post & { readonly kind: 'post' } => ({ text: 'hello', ...more, kind: 'post' });
const LARGE: FileRef = { ...FILE, id: 'large', bytes: 9_000_000 };
const sent = (result: SendResult): string =>
  result.kind === 'sent' ? (result.message ?? 'sent') : `not sent: ${JSON.stringify(result)}`;

describe('discord sends', () => {
  it('messages, replies, edits, reactions and removals', async (t) => {
    const { platform, send } = await discordBench(t);

    const message = sent(await send(post({ key: 'a', text: '**hi**' })));
    await send(post({ key: 'b', text: 'a reply', replyTo: message }));
    await send(post({ key: 'c', text: 'to nobody', replyTo: message.replace(/\d+$/, '645027906669510001') }));
    await send({ kind: 'edit', message, text: 'new', buttons: [], files: [] });
    for (const on of [true, true, false, true]) await send({ kind: 'react', message, emoji: '👍', on });
    await send({ kind: 'react', message, emoji: '<:LUL:41771983429993937>', on: true });
    const removed = [await send({ kind: 'remove', message }), await send({ kind: 'remove', message })];

    const [first, reply] = [platform.requests[0], platform.world.messages[0]];
    assert.match(message, new RegExp(`^${platform.world.channel}/\\d+$`));
    assert.deepEqual(first?.body['allowed_mentions'], { parse: [], users: [], replied_user: false });
    assert.deepEqual(removed, [{ kind: 'sent' }, { kind: 'sent' }]);
    assert.deepEqual(platform.world.said(), ['a reply', 'to nobody']);
    assert.equal(`${reply?.message_reference?.['channel_id']}/${reply?.message_reference?.['message_id']}`, message);
    assert.ok(platform.calls.some((call) => call.endsWith('/reactions/LUL%3A41771983429993937/@me')));
  });

  it('a post once, also when its answer is lost', async (t) => {
    const { platform, send } = await discordBench(t);
    platform.next(/^POST .*\/messages$/, 'drop');

    await assert.rejects(send(post({ key: 'one' })), /not reached/);
    const again = await send(post({ key: 'one' }));
    await send(post({ key: 'two' }));

    assert.equal(platform.world.messages.length, 2);
    assert.equal(sent(again), `${platform.world.channel}/${platform.world.messages[0]?.id}`);
  });

  it('mentions that were meant, and no other one', async (t) => {
    const { platform, send } = await discordBench(t);
    const ann = { endpoint: 'root/discord:discord', id: '53908232506183680' };

    await send(post({ key: 'a', text: toMarkdown(md`${mention(ann)} ${'<@80351110224678912> @everyone'}`) }));
    await send(post({ key: 'b', text: toMarkdown(md`${mention('everyone')}`) }));

    assert.deepEqual(
      platform.world.messages.map(({ notified }) => notified),
      [['53908232506183680'], ['everyone']],
    );
  });

  it('buttons in rows of five, takes them away by an edit, and text where there are buttons alone', async (t) => {
    const { platform, send } = await discordBench(t);
    const buttons = Array.from({ length: 7 }, (_, n) => ({
      label: n === 0 ? ' ' : `b${n}`.repeat(60),
      token: `t${n}`,
    }));

    const message = sent(
      await send(post({ text: '', buttons: [{ label: 'Yes', token: 'y', style: 'primary' }, ...buttons] })),
    );
    const rows = platform.world.messages[0]?.components as readonly {
      readonly components: readonly { readonly style: number }[];
    }[];
    const text = platform.world.said()[0];
    await send({ kind: 'edit', message, text: 'done', buttons: [], files: [] });

    assert.deepEqual(
      rows.map(({ components }) => components.length),
      [5, 3],
    );
    assert.deepEqual(
      rows[0]?.components.map(({ style }) => style),
      [1, 2, 2, 2, 2],
    );
    assert.match(text ?? '', /^Yes · /);
    assert.deepEqual([platform.world.said(), platform.world.messages[0]?.components], [['done'], []]);
  });

  it('to a person, in the private channel with them, which is asked for once', async (t) => {
    const { platform, send } = await discordBench(t);

    const results = [
      await send(post({ key: 'a', conversation: '@80351110224678912' })),
      await send(post({ key: 'b', conversation: '@80351110224678912' })),
    ];
    await send({ kind: 'typing', conversation: '@80351110224678912' });

    const { id } = platform.world.privateChannel('80351110224678912');
    assert.deepEqual(
      results.map((result) => sent(result).split('/')[0]),
      [id, id],
    );
    assert.equal(platform.calls.filter((call) => call === 'POST /users/@me/channels').length, 1);
    assert.deepEqual(platform.world.typing, [id]);
  });

  it('files with the message, and fetches those that came by where they lie', async (t) => {
    const { platform, send, adapter, link } = await discordBench(t);

    await send(post({ text: 'look', files: [FILE, { ...FILE, name: 'b"\n.txt' }] }));
    const [message] = platform.world.messages;
    const [, file] = message?.attachments ?? [];
    const id = `${message?.channel_id}/${message?.id}/${file?.id}`;
    const bytes = await new Response(await adapter.fetchFile?.({ ...FILE, id }, link)).text();
    platform.world.messages.splice(0);

    assert.deepEqual(
      message?.attachments.map(({ filename, content_type: type }) => [filename, type]),
      [
        ['a b.txt', 'text/plain'],
        ['b__.txt', 'text/plain'],
      ],
    );
    assert.equal(bytes, 'bytes');
    await assert.rejects(async () => adapter.fetchFile?.({ ...FILE, id }, link), /10008/);
    await assert.rejects(async () => adapter.fetchFile?.({ ...FILE, id: 'x' }, link), /not a file of Discord/);
  });

  it('and fetches those of a forwarded message from its snapshot', async (t) => {
    const { platform, send, adapter, link } = await discordBench(t);
    await send(post({ text: 'look', files: [FILE] }));
    const [message] = platform.world.messages;
    const [file] = message?.attachments ?? [];
    Object.assign(message ?? {}, { isForwarded: true });

    const id = `${message?.channel_id}/${message?.id}/${file?.id}`;
    const bytes = await new Response(await adapter.fetchFile?.({ ...FILE, id }, link)).text();

    assert.equal(bytes, 'bytes');
  });

  it('more files than one message takes, in number or size, in several messages, each once', async (t) => {
    const { platform, send, link } = await discordBench(t);
    const large = Buffer.alloc(LARGE.bytes, 'x');
    const { openFile } = link;
    Object.assign(link, {
      openFile: async (file: FileRef) =>
        file.id === 'large' ? { bytes: large.length, content: () => Readable.from([large]) } : openFile(file),
    });
    const many = post({ key: 'many', text: 'look', files: Array(11).fill(FILE) });
    const heavy = post({ key: 'heavy', text: '', files: [LARGE, LARGE, LARGE] });

    platform.next(/^POST .*\/messages$/, 'drop');
    await assert.rejects(send(many));
    const results = [await send(many), await send(many), await send(heavy)];

    const { messages } = platform.world;
    assert.deepEqual(
      messages.map(({ content, attachments }) => [content, attachments.length]),
      [
        ['look', 10],
        ['', 1],
        ['', 2],
        ['', 1],
      ],
    );
    const [first, second, third, fourth] = messages.map(({ channel_id: channel, id }) => `${channel}/${id}`);
    const named = results.map((result) => (result.kind === 'sent' && result.message) || '');
    assert.deepEqual(named, [`${first}+${second}`, `${first}+${second}`, `${third}+${fourth}`]);

    const [message = ''] = named;
    await send({ kind: 'edit', message, text: 'new', buttons: [], files: [] });
    assert.equal(platform.world.messages[0]?.content, 'new', 'the first is what is changed');
    for (const key of ['r', 'again']) assert.deepEqual(await send({ kind: 'remove', message, key }), { kind: 'sent' });
    assert.deepEqual(
      platform.world.messages.map(({ channel_id: channel, id }) => `${channel}/${id}`),
      [third, fourth],
    );
  });
});

describe('refusals', () => {
  it('are told by their words, without the text and the address', async (t) => {
    const { platform, send } = await discordBench(t);
    platform.world.addChannel('645027906669510700', { isClosed: true });

    const results = [
      await send(post({ text: 'secret '.repeat(400) })),
      await send(post({ conversation: '645027906669510700' })),
      await send(post({ conversation: 'somewhere' })),
      await send({ kind: 'edit', message: 'x', text: 'x', buttons: [], files: [] }),
      await send({ kind: 'react', message: '1/2', emoji: 'x', on: true }),
    ];

    assert.deepEqual(
      results.map(({ kind }) => kind),
      Array(5).fill('refused'),
    );
    assert.match(JSON.stringify(results[0]), /50035.*content\[BASE_TYPE_MAX_LENGTH\]/);
    assert.match(JSON.stringify(results[1]), /50001.*Missing Access/);
    assert.doesNotMatch(JSON.stringify(results), /secret |http/);
  });

  it('for now are waited for: of a channel, which is not asked meanwhile, and of all of Discord', async (t) => {
    const { platform, send } = await discordBench(t);
    platform.limit = { calls: 2, perMs: 10_000 };

    for (const key of ['a', 'A']) await send(post({ key }));
    const asked = platform.calls.length;
    const local = await send(post({ key: 'b' }));
    const notAsked = platform.calls.length === asked;
    const other = platform.world.addChannel('645027906669510701');
    platform.next(/^POST/, {
      status: 429,
      headers: { 'retry-after': '65', 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'global' },
    });
    const global = await send(post({ key: 'c', conversation: other.id }));

    assert.ok(local.kind === 'later' && local.afterMs > 0 && local.afterMs <= 10_000, JSON.stringify(local));
    assert.ok(notAsked, 'the bucket is known');
    assert.ok(global.kind === 'later' && global.afterMs > 60_000 && global.afterMs <= 65_000, JSON.stringify(global));
    assert.deepEqual([local.account, global.account], [undefined, true], 'the host holds all of the account');
  });

  it('for now are forgotten when the wall clock is set back: the client would wait until it has caught up', async (t) => {
    const { platform, send } = await discordBench(t);
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
    platform.limit = { calls: 1, perMs: 10_000 };

    await send(post({ key: 'a' }));
    const before = await send(post({ key: 'b' }));
    platform.limit = { calls: 1_000, perMs: 10_000 };
    t.mock.timers.setTime(1_800_000_000_000 - 3_600_000);
    const after = await send(post({ key: 'b' }));

    assert.deepEqual([before.kind, after.kind], ['later', 'sent']);
  });

  it('that leave open what happened throw, so that the host repeats', async (t) => {
    const { platform, send } = await discordBench(t);
    platform.next(/^POST/, { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>' });
    platform.next(/^POST/, { status: 401, body: '{"message":"401: Unauthorized","code":0}' });

    await assert.rejects(send(post()), /POST \/channels\/\d+\/messages: Discord answered 502/);
    await assert.rejects(send(post()), { code: 'account_failed', remedy: /new token/ });
    const later = await send(post());

    assert.equal(later.kind, 'sent', 'an account that is enabled again has its token');
  });
});

describe('interactions', () => {
  it('over the gateway are stored, then answered; the reply takes "thinking…" away', async (t) => {
    const { platform, open, send } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    const command = platform.interaction({ name: 'ping', type: 1, options: [] });

    platform.gateway.dispatch('INTERACTION_CREATE', command);
    const known = platform.world.interactions[0];
    await until(() => known?.answer !== undefined, { what: 'the answer' });
    await until(() => link.arrivals.length === 1, { what: 'the command' });
    await send(post({ text: 'pong' }));
    await until(() => known?.original?.isDeleted, { what: 'the end of thinking' });

    assert.deepEqual(known?.answer, { type: 5, data: { flags: 64 } });
    assert.deepEqual(textsOf(link), ['command']);
    assert.deepEqual(platform.world.said(), ['pong']);
    assert.ok(!JSON.stringify([link.arrivals, link.logs, link.cursor]).includes(command.token));
  });

  it('that Discord tells twice lose no "thinking…" by the second time', async (t) => {
    const { platform, open, send } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    const command = platform.interaction({ name: 'ping', type: 1, options: [] });
    const isRefused = (): boolean =>
      link.logs.some((line) => JSON.stringify(line).includes('an interaction was not answered'));

    platform.gateway.dispatch('INTERACTION_CREATE', command);
    await until(() => platform.world.interactions[0]?.answer !== undefined, { what: 'the callback' });
    platform.gateway.dispatch('INTERACTION_CREATE', command);
    await until(isRefused, { what: 'the second callback to be refused' });
    await send(post({ text: 'pong' }));

    await until(() => platform.world.interactions[0]?.original?.isDeleted, { what: 'the end of thinking' });
  });

  it('whose reply is ready before Discord has heard of "thinking…" are not left with it', async (t) => {
    const { platform, open, send } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    let hear = (): void => {};
    const slow = new Promise<void>((resolve) => {
      hear = resolve;
    });
    platform.next(/\/callback$/, { slow });

    platform.gateway.dispatch('INTERACTION_CREATE', platform.interaction({ name: 'ping', type: 1, options: [] }));
    await until(() => platform.calls.some((call) => call.endsWith('/callback')), { what: 'the callback' });
    const sent = send(post({ text: 'pong' }));
    await until(() => platform.world.said().length === 1, { what: 'the reply' });
    hear();

    assert.equal((await sent).kind, 'sent');
    const [known] = platform.world.interactions;
    await until(() => known?.original?.isDeleted, { what: 'the end of thinking' });
  });

  it('where the bot may not write are answered to their person alone', async (t) => {
    const { platform, open, send } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    const closed = platform.world.addChannel('645027906669510700', { isClosed: true });
    platform.gateway.dispatch(
      'INTERACTION_CREATE',
      platform.interaction({ name: 'ping', type: 1 }, { channel_id: closed.id, channel: { id: closed.id } }),
    );
    const known = platform.world.interactions[0];
    await until(() => known?.original !== undefined, { what: 'the answer' });

    const first = await send(post({ conversation: closed.id, text: 'pong' }));
    const second = await send(post({ conversation: closed.id, text: 'more' }));

    assert.deepEqual([first, second.kind], [{ kind: 'sent' }, 'refused']);
    assert.deepEqual(known?.original, { content: 'pong', isDeleted: false });
  });
});

describe('announce', () => {
  const command = (name: string, args: Record<string, object> = {}): CommandInfo => ({
    name,
    summary: `Does ${name}`,
    args: schema.object(args as never),
  });

  it('registers commands with options, by their line where Discord has nothing like them, and leaves out what it does not take', async (t) => {
    const { platform, announce, link } = await discordBench(t);

    await announce([
      command('order', {
        note: schema.optional(schema.rest()),
        size: schema.enum(['small', 'large'], { title: 'Which size?' }),
        count: schema.integer({ minimum: 1 }),
        in: schema.duration(),
        at: schema.option(schema.when()),
        for: schema.user(),
      }),
      command('tags', { tags: schema.array(schema.string()) }),
      command('ping'),
      command('NotThis'),
    ]);

    const [order, tags, ping, ...others] = platform.world.commands;
    const short = (of: typeof order): unknown =>
      ((of?.['options'] ?? []) as readonly Record<string, unknown>[]).map(({ name, type, required }) => [
        name,
        type,
        required,
      ]);
    assert.deepEqual(short(order), [
      ['size', 3, true],
      ['count', 4, true],
      ['in', 3, true],
      ['for', 6, true],
      ['note', 3, false],
      ['at', 3, false],
    ]);
    assert.deepEqual([short(tags), short(ping), others], [[['arguments', 3, true]], [], []]);
    assert.match(JSON.stringify(link), /NotThis/);
  });
});
