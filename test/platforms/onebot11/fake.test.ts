// The fake implementation of OneBot 11, driven by an SDK of NapCat that nobody here wrote (node-napcat-ts), and by the examples of the
// specification: what the SDK sends is understood, and what is answered and pushed is what it expects.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { NCWebsocket, Structs } from 'node-napcat-ts';
import { WebSocket } from 'ws';
import {
  ANSWERED,
  CALL,
  isBelieved,
  NO_ACTION,
  POST_HEADERS,
  POSTED,
  REVERSE_HEADERS,
} from '../../support/accounts/onebot11-examples.ts';
import { FakeOneBot, type FakeOneBotOptions } from '../../support/fake-platforms/onebot11.ts';
import { until } from '../../support/until.ts';

async function clientAt(t: TestContext, options: FakeOneBotOptions = {}, token?: string) {
  const fake = await FakeOneBot.start(t, options);
  const client = new NCWebsocket({
    baseUrl: fake.wsUrl,
    accessToken: token ?? fake.token,
    reconnection: { enable: false },
    apiTimeout: 60_000,
  });
  t.after(() => client.disconnect());
  return { fake, client };
}

describe('the fake OneBot, to an SDK of NapCat', () => {
  it('takes messages with mentions, answers and pictures, and gives, reacts to and removes them', async (t) => {
    const { fake, client } = await clientAt(t);
    await client.connect();

    const { user_id: self } = await client.get_login_info();
    const { message_id: id } = await client.send_group_msg({
      group_id: 7,
      message: [Structs.reply(1), Structs.at(5), Structs.text('hello'), Structs.image(Buffer.from('abc'))],
    });
    const got = await client.get_msg({ message_id: id });
    await client.set_msg_emoji_like({ message_id: id, emoji_id: '76' });
    const [said] = fake.bot.messages;
    await client.delete_msg({ message_id: id });

    assert.deepEqual([self, said?.group_id, said?.reactions], [10_001_000, 7, ['76']]);
    assert.deepEqual(
      said?.message.map(({ type }) => type),
      ['reply', 'at', 'text', 'image'],
    );
    assert.deepEqual([said?.message[3]?.data['file'], got.message_id], ['base64://YWJj', id]);
    assert.deepEqual(fake.bot.messages, []);
    await assert.rejects(client.delete_msg({ message_id: id }), { retcode: 1200 });
  });

  it('takes private messages and files, tells its status, and has a history', async (t) => {
    const { fake, client } = await clientAt(t);
    await client.connect();
    fake.line('missed', { group: 7, push: false });
    fake.line('in private', { user: 5, push: false });

    await client.send_private_msg({ user_id: 5, message: [Structs.text('hi'), Structs.face(14)] });
    await client.upload_group_file({ group_id: 7, file: 'base64://YWJj', name: 'a.txt' });
    const [group, friend] = [
      await client.get_group_msg_history({ group_id: 7, count: 20 }),
      await client.get_friend_msg_history({ user_id: 5, count: 20 }),
    ];

    assert.deepEqual(await client.get_status().then(({ online, good }) => [online, good]), [true, true]);
    assert.equal((await client.get_version_info()).protocol_version, 'v11');
    assert.deepEqual(fake.bot.texts(), ['hi[face]']);
    assert.deepEqual(
      fake.bot.uploads.map(({ to, name, bytes }) => [to, name, bytes.toString()]),
      [['group:7', 'a.txt', 'abc']],
    );
    assert.deepEqual([group.messages.map(({ raw_message }) => raw_message), friend.messages.length], [['missed'], 2]);
  });

  it('pushes events that the SDK knows: messages in both forms, notices, heartbeats, what the bot said itself', async (t) => {
    const { fake, client } = await clientAt(t);
    const seen: string[] = [];
    client.on('meta_event.lifecycle.connect', ({ self_id }) => void seen.push(`connected ${self_id}`));
    client.on('meta_event.heartbeat', ({ interval }) => void seen.push(`beat ${interval}`));
    client.on('message.group.normal', ({ message }) => void seen.push(`group ${JSON.stringify(message)}`));
    client.on('message.private.friend', ({ raw_message }) => void seen.push(`private ${raw_message}`));
    client.on('message_sent.group.normal', ({ raw_message }) => void seen.push(`own ${raw_message}`));
    client.on('notice.group_recall', ({ message_id }) => void seen.push(`recalled ${message_id}`));
    client.on('notice.notify.poke.group', ({ target_id }) => void seen.push(`poked ${target_id}`));
    client.on('notice.group_msg_emoji_like', ({ likes }) => void seen.push(`liked ${likes[0]?.emoji_id}`));
    client.on('request.friend', ({ comment }) => void seen.push(`asked ${comment}`));
    await client.connect();
    await until(() => fake.listeners === 1, { what: 'the socket' });

    fake.line([{ type: 'text', data: { text: 'a [b]' } }], { group: 7 });
    fake.format = 'string';
    fake.line(
      [
        { type: 'text', data: { text: 'plain' } },
        { type: 'at', data: { qq: '5' } },
      ],
      { group: 7 },
    );
    fake.line('hello', { user: 5 });
    fake.line('mine', { user: fake.bot.self, group: 7 });
    fake.push({
      post_type: 'notice',
      notice_type: 'group_recall',
      group_id: 7,
      user_id: 5,
      operator_id: 5,
      message_id: 3,
    });
    fake.push({ post_type: 'notice', notice_type: 'notify', sub_type: 'poke', group_id: 7, user_id: 5, target_id: 6 });
    const likes = [{ emoji_id: '76', count: 1 }];
    fake.push({
      post_type: 'notice',
      notice_type: 'group_msg_emoji_like',
      group_id: 7,
      user_id: 5,
      message_id: 3,
      likes,
    });
    fake.push({ post_type: 'request', request_type: 'friend', user_id: 9, comment: 'hi', flag: 'f' });
    fake.heartbeat(15_000);
    await until(() => seen.some((line) => line.startsWith('beat')), { what: 'the heartbeat' });

    assert.deepEqual(seen, [
      'connected 10001000',
      'group [{"type":"text","data":{"text":"a [b]"}}]',
      'group [{"type":"text","data":{"text":"plain"}},{"type":"at","data":{"qq":"5"}}]',
      'private hello',
      'own mine',
      'recalled 3',
      'poked 6',
      'liked 76',
      'asked hi',
      'beat 15000',
    ]);
  });

  it('tells a wrong token as NapCat does, after it has opened, and as the specification does', async (t) => {
    const { client } = await clientAt(t, { saysLate: true }, 'wrong');
    const told = new Promise((resolve) => client.on('socket.error', resolve));
    await client.connect();

    assert.deepEqual(((await told) as { readonly info: { readonly errno: number } }).info.errno, 1403);
    const strict = await FakeOneBot.start(t);
    const statusOf = async (query: string): Promise<number> => {
      const socket = new WebSocket(strict.wsUrl + query);
      socket.on('error', () => {});
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { readonly statusCode: number }];
      return response.statusCode;
    };
    assert.deepEqual(
      [await statusOf('/'), await statusOf('/api?access_token=wrong'), await statusOf('/nothing')],
      [401, 403, 404],
    );
  });
});

describe('the fake OneBot, to the examples of the specification', () => {
  it('answers a call over WebSocket with its echo, and with 1404 for an action that it does not have', async (t) => {
    const fake = await FakeOneBot.start(t);
    const socket = new WebSocket(`${fake.wsUrl}/api`, { headers: { authorization: `Bearer ${fake.token}` } });
    await once(socket, 'open');
    const ask = async (call: object): Promise<unknown> => {
      socket.send(JSON.stringify(call));
      return JSON.parse(String((await once(socket, 'message'))[0]));
    };

    const sent = (await ask(CALL)) as { readonly data: { readonly message_id: number } };
    const none = (await ask({ ...CALL, action: 'make_coffee' })) as object;

    assert.deepEqual(sent, { ...ANSWERED, data: sent.data, echo: CALL.echo });
    assert.deepEqual(fake.bot.texts(), ['你好']);
    assert.deepEqual({ ...NO_ACTION, ...none }, none);
    socket.terminate();
  });

  it('answers over HTTP with the statuses of the specification', async (t) => {
    const fake = await FakeOneBot.start(t);
    const post = (
      action: string,
      { token = fake.token, type = 'application/json', body = '{}' } = {},
    ): Promise<Response> =>
      fetch(`${fake.url}/${action}`, {
        method: 'POST',
        headers: { 'content-type': type, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
        body,
      });
    const answers = [
      await post('send_private_msg', { body: JSON.stringify(CALL.params) }),
      await post('get_status', { token: '' }),
      await post('get_status', { token: 'wrong' }),
      await post('get_status', { type: 'text/plain' }),
      await post('get_status', { body: '{' }),
      await post('make_coffee'),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 403, 406, 400, 404],
    );
    assert.deepEqual(fake.bot.texts(), ['你好']);
  });

  it('posts and asks for a WebSocket as the specification prints it', async (t) => {
    const fake = await FakeOneBot.start(t);
    const posted: { readonly headers: IncomingHttpHeaders; readonly body: Buffer }[] = [];
    const opened: IncomingHttpHeaders[] = [];
    const backEnd = createServer((request, response) => {
      void buffer(request).then((body) => {
        posted.push({ headers: request.headers, body });
        response.writeHead(204).end();
      });
    });
    backEnd.on('upgrade', ({ headers }, socket) => {
      opened.push(headers);
      socket.destroy();
    });
    await once(backEnd.listen(0, '127.0.0.1'), 'listening');
    t.after(() => void backEnd.close());
    const { port } = backEnd.address() as AddressInfo;

    const answer = await fake.post(`http://127.0.0.1:${port}/`, JSON.parse(POSTED) as Record<string, unknown>, {
      secret: 'some-secret',
    });
    fake.connectTo(`ws://127.0.0.1:${port}/ws/api`, { role: 'API' });
    await until(() => opened.length > 0, { what: 'the connection' });

    const [delivery] = posted;
    assert.ok(delivery);
    assert.equal(answer.status, 204);
    assert.deepEqual(JSON.parse(delivery.body.toString()), JSON.parse(POSTED));
    assert.deepEqual({ ...delivery.headers, ...POST_HEADERS }, delivery.headers);
    assert.ok(isBelieved('some-secret', delivery.body, delivery.headers['x-signature']));
    assert.deepEqual({ ...opened[0], ...REVERSE_HEADERS }, opened[0]);
  });
});
