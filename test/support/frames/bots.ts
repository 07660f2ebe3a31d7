// One session of each fake platform with a bot that others' libraries make: what the platform delivers over HTTP, signed, and what the bot
// answers when it believes it, or does not. A session throws where the bot has not understood.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { REST } from '@discordjs/rest';
import { LINE_SIGNATURE_HTTP_HEADER_NAME, middleware, type webhook } from '@line/bot-sdk';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import { Routes } from 'discord-api-types/v10';
import { InteractionResponseType, verifyKeyMiddleware } from 'discord-interactions';
import express from 'express';
import { Bot, webhookCallback } from 'grammy';
import { Webhook } from 'standardwebhooks';
import { ANN } from '../accounts/line-examples.ts';
import { BLOCK_ACTIONS, CHALLENGE, SIGNED } from '../accounts/slack-examples.ts';
import { FakeDiscord } from '../fake-platforms/discord.ts';
import { FakeLine } from '../fake-platforms/line.ts';
import { FakeSlack } from '../fake-platforms/slack.ts';
import { FakeTelegram } from '../fake-platforms/telegram.ts';
import { WebhookPlatform } from '../fake-platforms/webhook-platform.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';
import { nameOf, type Platform } from './clients.ts';

/** Where the bot listens. */
async function serves(t: Cleanup, bot: RequestListener): Promise<number> {
  const server = createServer(bot);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function answered(delivery: Promise<Response>, status: number): Promise<void> {
  const response = await delivery;
  if (response.status !== status) throw new Error(`${response.status} ${await response.text()}, not ${status}`);
  await response.arrayBuffer();
}

const heardIs = (heard: readonly unknown[], expected: readonly unknown[]): void => {
  if (JSON.stringify(heard) !== JSON.stringify(expected)) throw new Error(`the bot heard ${JSON.stringify(heard)}`);
};

const telegram: Platform = {
  client: nameOf('grammy'),
  async start(t) {
    const fake = await new FakeTelegram().listen(t);
    const token = fake.bot(42, 'svc_bot');
    const canUseWebhookReply = (method: string): boolean => method === 'answerCallbackQuery';
    const bot = new Bot(token, { client: { apiRoot: fake.url, canUseWebhookReply } });
    const heard: unknown[] = [];
    bot.command('start', ({ match, from }) => void heard.push([match, from?.first_name]));
    bot.callbackQuery('y', async (ctx) => {
      heard.push(ctx.callbackQuery.data);
      await ctx.answerCallbackQuery();
    });
    const take = webhookCallback(bot, 'http', { secretToken: 'a_secret' });
    const port = await serves(t, (request, response) => void take(request, response));
    const from = { id: 5, is_bot: false, first_name: 'Ann' };
    const chat = { id: 5, type: 'private', first_name: 'Ann' };
    const session = async (address: string): Promise<void> => {
      fake.reach = () => `http://${address}/`;
      await bot.api.setWebhook('https://bot.example/x', { secret_token: 'a_secret' });
      const entities = [{ type: 'bot_command', offset: 0, length: 6 }];
      fake.happens(token, { message: { message_id: 1, date: 1, chat, from, text: '/start now', entities } });
      const pressed = { message_id: 2, date: 1, chat };
      fake.happens(token, { callback_query: { id: 'q1', from, chat_instance: 'c', data: 'y', message: pressed } });
      await fake.deliver(token);
      heardIs([...heard, ...fake.chats.answered], [['now', 'Ann'], 'y', 'q1']);
      await bot.api.setWebhook('https://bot.example/x', { secret_token: 'another' });
      fake.happens(token, { message: { message_id: 3, date: 1, chat, from, text: 'hello' } });
      await fake.deliver(token);
      if ((await bot.api.getWebhookInfo()).pending_update_count !== 1) throw new Error('a wrong secret was taken');
    };
    return { port, known: { token }, session };
  },
};

const slack: Platform = {
  client: nameOf('@slack/bolt'),
  async start(t) {
    const fake = await FakeSlack.start(t);

    const { signingSecret, botToken: token, apiUrl: slackApiUrl } = fake;
    const receiver = new HTTPReceiver({ signingSecret, logLevel: LogLevel.ERROR });
    const app = new App({ receiver, token, clientOptions: { slackApiUrl }, logLevel: LogLevel.ERROR });
    const heard: unknown[] = [];
    app.message(/^hello/, async ({ message, context }) => {
      heard.push(['text' in message ? message.text : undefined, context.botUserId]);
      await Promise.resolve();
    });
    app.command('/svc', async ({ ack, command }) => ack(`${command.user_name} said ${command.text}`));
    app.action('WaXA', async ({ ack, action }) => {
      heard.push('value' in action ? action.value : undefined);
      await ack();
    });
    const port = await serves(t, receiver.requestListener);
    const session = async (address: string): Promise<void> => {
      const url = `http://${address}/slack/events`;
      await answered(fake.deliver(url, CHALLENGE), 200);
      await answered(fake.deliver(url, fake.line('hello bot')), 200);
      await until(() => heard.length === 1, { what: 'the message' });
      await answered(fake.deliver(url, new URLSearchParams({ payload: JSON.stringify(BLOCK_ACTIONS) })), 200);
      const command = new URLSearchParams(SIGNED.body);
      for (const [name, value] of [
        ['command', '/svc'],
        ['text', 'tea & more'],
      ] as const)
        command.set(name, value);
      await answered(fake.deliver(url, command), 200);
      heardIs(heard, [['hello bot', fake.workspace.bot], 'click_me_123']);
      await answered(fake.deliver(url, fake.line('hello'), fake.signed('', { secret: 'wrong' })), 401);
      await answered(fake.deliver(url, fake.line('hello'), { 'x-slack-request-timestamp': '1531420618' }), 401);
    };
    return { port, known: {}, session };
  },
};

const discord: Platform = {
  client: `${nameOf('discord-interactions')}, ${nameOf('@discordjs/rest')}`,
  async start(t) {
    const fake = await FakeDiscord.start(t);
    const bot = express();
    bot.post('/', verifyKeyMiddleware(fake.publicKey), (request, response) => {
      const { data, member } = request.body as { data: { name: string }; member: { user: { username: string } } };
      const content = `${member.user.username} asks for ${data.name}`;
      response.send({ type: InteractionResponseType.CHANNEL_MESSAGE_WITH_SOURCE, data: { content } });
    });
    const port = await serves(t, bot);
    const session = async (address: string): Promise<void> => {
      fake.reach = () => `http://${address}/`;
      const rest = new REST({ api: fake.apiUrl, retries: 0 }).setToken(fake.token);
      const interactions_endpoint_url = 'https://bot.example/';
      await rest.patch(Routes.currentApplication(), { body: { interactions_endpoint_url } });
      await answered(fake.deliver(`http://${address}/`, fake.interaction({ name: 'ping', type: 1 })), 200);
    };
    const { application, guild, channel } = fake.world;
    return { port, known: { application, guild, channel }, madeUp: ['x-signature-ed25519'], session };
  },
};

const line: Platform = {
  client: nameOf('@line/bot-sdk'),
  async start(t) {
    const fake = await FakeLine.start(t);
    const bot = express();
    const heard: unknown[] = [];
    bot.post('/', middleware({ channelSecret: fake.secret }), (request, response) => {
      for (const event of (request.body as webhook.CallbackRequest).events)
        if (event.type === 'message' && event.message.type === 'text') heard.push(event.message.text);
      response.end();
    });
    bot.use(((_error, _request, response, _next) => void response.status(401).end()) as express.ErrorRequestHandler);
    const port = await serves(t, bot);
    const session = async (address: string): Promise<void> => {
      const url = `http://${address}/`;
      await answered(fake.deliver(url, { destination: fake.channel.bot, events: [] }), 200);
      await answered(fake.deliver(url, fake.says('Grüße', { user: ANN })), 200);
      await answered(fake.deliver(url, fake.says('no', { user: ANN }), { secret: 'wrong' }), 401);
      heardIs(heard, ['Grüße']);
    };
    return { port, known: {}, madeUp: [LINE_SIGNATURE_HTTP_HEADER_NAME, 'quoteToken', 'id'], session };
  },
};

/** There is no fake that delivers for GitHub: its own library signs. */
const github: Platform = {
  client: nameOf('@octokit/webhooks'),
  async start(t) {
    const quiet = (): void => {};
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const ours = new Webhooks({ secret: 'a secret of the webhook', log });
    const wrong = new Webhooks({ secret: 'another' });
    const heard: unknown[] = [];
    ours.on('issue_comment.created', ({ id, payload }) => void heard.push([id, payload.comment.body]));
    const port = await serves(t, createNodeMiddleware(ours, { path: '/', log }) as RequestListener);
    const id = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
    const body = JSON.stringify({ action: 'created', issue: { number: 1 }, comment: { id: 12, body: 'Grüße' } });
    const session = async (address: string): Promise<void> => {
      const deliver = async (by: Webhooks): Promise<Response> =>
        fetch(`http://${address}/`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-github-event': 'issue_comment',
            'x-github-delivery': id,
            'x-hub-signature-256': await by.sign(body),
          },
          body,
        });
      await answered(deliver(ours), 200);
      await answered(deliver(wrong), 400);
      heardIs(heard, [[id, 'Grüße']]);
    };
    return { port, known: {}, session };
  },
};

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

const webhooks: Platform = {
  client: nameOf('standardwebhooks'),
  async start(t) {
    const fake = new WebhookPlatform(SECRET);
    await fake.listen(t);
    const signer = new Webhook(SECRET);
    const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = await buffer(request);
      try {
        const { text } = signer.verify(body, request.headers as Record<string, string>) as { readonly text: string };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ heard: text }));
      } catch {
        response.writeHead(401).end();
      }
    };
    const port = await serves(t, (request, response) => void take(request, response));
    const session = async (address: string): Promise<void> => {
      const { body, headers } = fake.sign('msg_1', {
        conversation: { id: 'room' },
        user: { id: 'ann' },
        text: 'hello',
      });
      const url = `http://${address}/`;
      await answered(fetch(url, { method: 'POST', body, headers }), 200);
      await answered(fetch(url, { method: 'POST', body: `${body} `, headers }), 401);
    };
    return { port, known: {}, madeUp: ['webhook-signature'], session };
  },
};

export const BOTS = { telegram, slack, discord, line, github, webhook: webhooks };
