// One session of each platform's client with its fake: what a bot does most. Made once by hand; what they say is in test/support/fixtures/frames.
import { readFileSync } from 'node:fs';
import { REST } from '@discordjs/rest';
import { WebSocketManager, WebSocketShardEvents } from '@discordjs/ws';
import { messagingApi } from '@line/bot-sdk';
import { Octokit } from '@octokit/core';
import { WebClient } from '@slack/web-api';
import { GatewayIntentBits, Routes } from 'discord-api-types/v10';
import { Api, GrammyError, InlineKeyboard, InputFile } from 'grammy';
import { NCWebsocket, Structs } from 'node-napcat-ts';
import { ANN } from '../accounts/line-examples.ts';
import { FakeDiscord } from '../fake-platforms/discord.ts';
import { FakeGithub } from '../fake-platforms/github.ts';
import { FakeLine } from '../fake-platforms/line.ts';
import { FakeOneBot } from '../fake-platforms/onebot11.ts';
import { FakeSlack } from '../fake-platforms/slack.ts';
import { FakeTelegram } from '../fake-platforms/telegram.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';
import type { RecorderOptions } from './recorder.ts';

interface Started extends RecorderOptions {
  /** Talks to the fake at this address, host and port, until it has said all. */
  session(address: string): Promise<void>;
}
export interface Platform {
  /** With its version. */
  readonly client: string;
  start(t: Cleanup): Promise<Started>;
}

export const portOf = (url: string): number => Number(new URL(url).port);
/** With the version that is installed. */
export const nameOf = (client: string): string => {
  const manifest = new URL(`../../../node_modules/${client}/package.json`, import.meta.url);
  return `${client} ${(JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version}`;
};
export const refused = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => Promise.reject(new Error('taken')),
    () => {},
  );

const telegram: Platform = {
  client: nameOf('grammy'),
  async start(t) {
    const fake = await new FakeTelegram().listen(t);
    const token = fake.bot(42, 'svc_bot');
    const from = { id: 5, is_bot: false, first_name: 'Ann' };
    const chat = { id: 5, type: 'private', first_name: 'Ann' };
    fake.happens(token, { message: { message_id: 1, date: 1, chat, from, text: 'hello' } });
    const session = async (address: string): Promise<void> => {
      const api = new Api(token, { apiRoot: `http://${address}` });
      await api.getMe();
      await api.getUpdates({ offset: 0, timeout: 0 });
      const sent = await api.sendMessage(5, '<b>Hi</b> &amp; welcome', {
        parse_mode: 'HTML',
        reply_markup: new InlineKeyboard().text('Yes', 'y'),
      });
      await api.editMessageText(5, sent.message_id, 'Done');
      await api.setMessageReaction(5, sent.message_id, [{ type: 'emoji', emoji: '👍' }]);
      await api.sendChatAction(5, 'typing');
      await api.sendDocument(5, new InputFile(Buffer.from('bytes'), 'a.txt'), { caption: 'here' });
      await api.deleteMessage(5, sent.message_id);
      await api.setMyCommands([{ command: 'ping', description: 'Pings' }]);
      await api.setWebhook('https://bot.example/x', { secret_token: 's' });
      await refused(api.getUpdates());
      await api.deleteWebhook();
      const wrong = await api.sendMessage(5, 'a < b', { parse_mode: 'HTML' }).catch((error: unknown) => error);
      if (!(wrong instanceof GrammyError)) throw new Error('a text that is no HTML was taken');
    };
    return { port: portOf(fake.url), known: { token }, session };
  },
};

const slack: Platform = {
  client: nameOf('@slack/web-api'),
  async start(t) {
    const fake = await FakeSlack.start(t);
    const { channel, ts } = { channel: 'C123ABC456', ts: '1355517523.000005' };
    const session = async (address: string): Promise<void> => {
      const options = { slackApiUrl: fake.apiUrl.replace(/127\.0\.0\.1:\d+/, address), retryConfig: { retries: 0 } };
      const client = new WebClient(fake.botToken, options);
      await client.auth.test();
      const posted = await client.chat.postMessage({ channel, text: 'hello', thread_ts: ts });
      const of = { channel, ts: posted.ts ?? '' };
      await client.chat.update({ ...of, text: 'hello there' });
      await client.reactions.add({ channel, timestamp: of.ts, name: 'thumbsup' });
      await client.conversations.history({ channel, include_all_metadata: true });
      await client.chat.delete(of);
      await refused(client.chat.delete(of));
      await refused(client.chat.postMessage({ channel: 'C0ARCHIVED', text: 'x' }));
      await new WebClient(fake.appToken, options).apps.connections.open({});
      await refused(new WebClient('xoxb-wrong', options).auth.test());
    };
    return { port: portOf(fake.url), known: { bot_token: fake.botToken, app_token: fake.appToken }, session };
  },
};

const discord: Platform = {
  client: `${nameOf('@discordjs/rest')}, ${nameOf('@discordjs/ws')}`,
  async start(t) {
    const fake = await FakeDiscord.start(t);
    const { channel } = fake.world;
    const session = async (address: string): Promise<void> => {
      const api = fake.apiUrl.replace(/127\.0\.0\.1:\d+/, address);
      const rest = new REST({ api, retries: 0 }).setToken(fake.token);
      const body = { content: 'hi', nonce: 'n1', enforce_nonce: true };
      const { id } = (await rest.post(Routes.channelMessages(channel), { body })) as { readonly id: string };
      await rest.post(Routes.channelMessages(channel), { body });
      await rest.patch(Routes.channelMessage(channel, id), { body: { content: 'changed' } });
      await rest.put(Routes.channelMessageOwnReaction(channel, id, encodeURIComponent('👍')));
      await rest.delete(Routes.channelMessage(channel, id));
      await answers(rest);
      await refused(rest.get(Routes.channelMessage(channel, id)));
      await refused(rest.post(Routes.channelMessages(channel), { body: { content: '' } }));
      await listens(rest);
    };
    const [now, later] = [fake.interaction({ name: 'now' }), fake.interaction({ name: 'later' })];
    const answers = async (rest: REST): Promise<void> => {
      const { application } = fake.world;
      const callback = (of: { readonly id: string; readonly token: string }, body: object): Promise<unknown> =>
        rest.post(Routes.interactionCallback(of.id, of.token), { body, auth: false });
      await callback(now, { type: 4, data: { content: 'done' } });
      await refused(callback(now, { type: 4, data: { content: 'again' } }));
      await callback(later, { type: 5 });
      const original = Routes.webhookMessage(application, later.token);
      await rest.patch(original, { body: { content: 'done later' }, auth: false });
      await rest.delete(original, { auth: false });
    };
    const listens = async (rest: REST): Promise<void> => {
      const manager = new WebSocketManager({ token: fake.token, intents: GatewayIntentBits.GuildMessages, rest });
      manager.on(WebSocketShardEvents.SocketError, () => {});
      let heard = 0;
      manager.on(
        WebSocketShardEvents.Dispatch,
        ({ t: type }) => void (heard += Number(String(type) === 'MESSAGE_CREATE')),
      );
      await manager.connect();
      fake.says('hello');
      await until(() => heard === 1, { what: 'the message' });
      await manager.destroy();
    };
    const leavesOut = (frame: unknown): boolean => [1, 11].includes((frame as { readonly op: number }).op);
    const of = { channel, application: fake.world.application, now: now.id, later: later.id };
    const known = { token: fake.token, ...of, os: process.platform };
    return { port: portOf(fake.url), known, leavesOut, session };
  },
};

const github: Platform = {
  client: nameOf('@octokit/core'),
  async start(t) {
    const fake = await new FakeGithub({ 'ghp-good': 'octocat' }).start(t);
    fake.data.open('octo/hello', 7);
    const session = async (address: string): Promise<void> => {
      const octokit = new Octokit({ auth: 'ghp-good', baseUrl: `http://${address}` });
      const of = { owner: 'octo', repo: 'hello', issue_number: 7 };
      const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
        ...of,
        body: 'one',
      });
      const comment = { owner: 'octo', repo: 'hello', comment_id: Number(data.id) };
      await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...comment, body: 'uno' });
      await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', of);
      await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', { ...of, content: 'heart' });
      await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', comment);
      await refused(
        octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...comment, body: 'x' }),
      );
      await refused(new Octokit({ auth: 'ghp-bad', baseUrl: `http://${address}` }).request('GET /user'));
      await discusses(octokit);
    };
    const { node_id: id } = fake.data.open('octo/hello', 9, 'discussion');
    const discusses = async ({ graphql }: Octokit): Promise<void> => {
      const add = 'mutation ($in: AddDiscussionCommentInput!) { addDiscussionComment(input: $in) { comment { id } } }';
      const react = 'mutation ($in: AddReactionInput!) { addReaction(input: $in) { subject { id } } }';
      const find =
        'query ($name: String!) { repository(owner: "octo", name: $name) { discussion(number: 9) { title comments(last: 5) { nodes { body } } } } }';
      await graphql('{ viewer { login } }');
      await graphql(add, { in: { discussionId: id, body: 'hi' } });
      await graphql(react, { in: { subjectId: id, content: 'HEART' } });
      await graphql(find, { name: 'hello' });
      await refused(graphql(find, { name: 'nowhere' }));
      await refused(graphql(add, { in: { discussionId: id } }));
    };
    return { port: portOf(fake.url), known: { token: 'ghp-good' }, session };
  },
};

const line: Platform = {
  client: nameOf('@line/bot-sdk'),
  async start(t) {
    const fake = await FakeLine.start(t);
    const session = async (address: string): Promise<void> => {
      const options = { channelAccessToken: fake.token, baseURL: `http://${address}` };
      const client = new messagingApi.MessagingApiClient(options);
      await client.getBotInfo();
      const push = { to: ANN, messages: [{ type: 'text' as const, text: 'Hello, world1' }] };
      await client.pushMessage(push, '123e4567-e89b-12d3-a456-426614174000');
      await refused(client.pushMessage(push, '123e4567-e89b-12d3-a456-426614174000'));
      await refused(client.pushMessage({ to: 'nobody', messages: push.messages }));
      await client.getMessageQuota();
      await client.getMessageQuotaConsumption();
      await refused(new messagingApi.MessagingApiClient({ ...options, channelAccessToken: 'wrong' }).getBotInfo());
    };
    return { port: portOf(fake.url), known: { token: fake.token }, madeUp: ['quoteToken'], session };
  },
};

const onebot11: Platform = {
  client: nameOf('node-napcat-ts'),
  async start(t) {
    const fake = await FakeOneBot.start(t);
    const session = async (address: string): Promise<void> => {
      const baseUrl = fake.wsUrl.replace(/127\.0\.0\.1:\d+/, address);
      const client = new NCWebsocket({ baseUrl, accessToken: fake.token, reconnection: { enable: false } });
      let isTold = false;
      client.on('meta_event.lifecycle.connect', () => {
        isTold = true;
      });
      await client.connect();
      await until(() => isTold, { what: 'the first event' });
      await client.get_login_info();
      const message = [Structs.reply(1), Structs.at(5), Structs.text('hello'), Structs.image(Buffer.from('abc'))];
      const { message_id } = await client.send_group_msg({ group_id: 7, message });
      await client.set_msg_emoji_like({ message_id, emoji_id: '76' });
      await client.delete_msg({ message_id });
      await refused(client.delete_msg({ message_id }));
      await client.get_status();
      await client.disconnect();
    };
    return { port: portOf(fake.url), known: { token: fake.token }, madeUp: ['echo'], session };
  },
};

export const PLATFORMS = { telegram, slack, discord, github, line, onebot11 };
