// A Bot API server on the loopback address, by Telegram's documentation: paths `/bot<token>/<method>` and `/file/bot<token>/<path>`,
// parameters as JSON, form or query, answers `{ ok, result }` or `{ ok, error_code, description, parameters }`.
//
//   F1  getUpdates waits for its timeout; an offset confirms what is below it; an offset far in the future means the beginning. A second one
//       ends the first with 409; while a webhook is set it is 409.
//   F2  What it was told is recorded before it answers. A call with the same content twice is two messages: Telegram knows no keys.
//   F3  It may misbehave as the real one does: `next` answers the next call of a method, as listed at `Misbehaviour`.
//   F4  What is delivered to a webhook comes one at a time, with the secret of setWebhook, until it is answered with 2xx; a method in the answer
//       is called.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';
import { type FileAnswer, wholeFile } from './file-answer.ts';
import { type Pace, paced } from './paced.ts';
import { type Params, readParams, TelegramRefusal } from './telegram/calls.ts';
import { type ShownMessage, TelegramChats } from './telegram/chats.ts';

interface Waiting {
  readonly offset: number;
  readonly answer: (status: number, body: object) => void;
  readonly timer: NodeJS.Timeout;
}

interface Bot {
  readonly id: number;
  readonly username: string;
  updates: { readonly update_id: number; readonly [field: string]: unknown }[];
  nextUpdate: number;
  webhook: Params;
  /** As getWebhookInfo tells of it. */
  lastFailure: { readonly last_error_date?: number; readonly last_error_message?: string };
  waiting: Waiting | undefined;
  /** Confirmed by an offset, in order. */
  readonly confirmed: number[];
}

export interface Called {
  readonly method: string;
  readonly bot: number;
  readonly params: Params;
}
type Misbehaviour =
  | { readonly status: number; readonly body?: object; readonly headers?: Record<string, string> }
  /** Taken, and the connection cut. */
  | 'drop'
  /** Not taken, and never answered. */
  | 'hold';

export class FakeTelegram {
  readonly chats = new TelegramChats();
  readonly calls: Called[] = [];
  giveFile: FileAnswer = wholeFile;
  /** How long its calls are under way. */
  pace: Pace | undefined;
  /** Calls that wait for an answer which never comes. */
  held = 0;
  readonly #bots = new Map<string, Bot>();
  readonly #forced = new Map<string, Misbehaviour[]>();
  readonly #server: Server = createServer(paced(this, (request, response) => void this.#take(request, response)));

  async listen(t: Cleanup): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      for (const { waiting } of this.#bots.values()) clearTimeout(waiting?.timer);
      this.#server.closeAllConnections();
      this.#server.close();
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes a bot and gives its token. */
  bot(id: number, username: string, firstUpdate = 10_000): string {
    const token = `${id}:AA${'x'.repeat(31)}${id % 10}`;
    this.#bots.set(token, {
      id,
      username,
      updates: [],
      nextUpdate: firstUpdate,
      webhook: {},
      lastFailure: {},
      waiting: undefined,
      confirmed: [],
    });
    return token;
  }

  /** As /revoke of @BotFather does: the token is of nobody any more. */
  revoke(token: string): void {
    const { waiting } = this.#of(token);
    this.#bots.delete(token);
    this.#end(waiting, 401, refusal(401, 'Unauthorized'));
  }

  /** Somebody did something that the bot is told of. Gives the update_id. */
  happens(token: string, update: Readonly<Record<string, unknown>>): number {
    const bot = this.#of(token);
    const update_id = bot.nextUpdate;
    bot.nextUpdate += 1;
    bot.updates.push({ update_id, ...update });
    const { waiting } = bot;
    if (waiting !== undefined) {
      bot.waiting = undefined;
      this.#end(waiting, 200, { ok: true, result: this.#from(bot, waiting.offset) });
    }
    return update_id;
  }

  /** Where the address of a webhook leads on this machine. */
  reach: (url: string) => string = (url) => url;

  /** F4. Up to the first that is not taken. */
  async deliver(token: string): Promise<void> {
    const bot = this.#of(token);
    const { url, secret_token: secret } = bot.webhook;
    for (const update of bot.updates) {
      const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': String(secret) };
      const answer = await fetch(this.reach(String(url)), { method: 'POST', headers, body: JSON.stringify(update) });
      const text = await answer.text();
      if (!answer.ok)
        return this.deliveryFailed(token, new Date(), `Wrong response from the webhook: ${answer.status}`);
      bot.updates = bot.updates.filter((one) => one !== update);
      const { method, ...params } = (text === '' ? {} : JSON.parse(text)) as { readonly method?: string };
      if (method !== undefined) this.#call(bot, method, params);
    }
  }

  /** Ids start anew, as after a week of silence. */
  restartIds(token: string, at: number): void {
    this.#of(token).nextUpdate = at;
  }

  /** A delivery to the webhook ended so. */
  deliveryFailed(token: string, at: Date, why: string): void {
    this.#of(token).lastFailure = { last_error_date: Math.floor(at.getTime() / 1_000), last_error_message: why };
  }

  confirmed(token: string): readonly number[] {
    return this.#of(token).confirmed;
  }
  isPolled(token: string): boolean {
    return this.#of(token).waiting !== undefined;
  }
  webhook(token: string): Params {
    return this.#of(token).webhook;
  }
  messages(chat: number): readonly ShownMessage[] {
    return this.chats.messages(chat);
  }
  called(method: string): readonly Params[] {
    return this.calls.flatMap((call) => (call.method === method ? [call.params] : []));
  }

  /** What the next call of this method gets. */
  next(method: string, ...answers: readonly Misbehaviour[]): void {
    this.#forced.set(method, [...(this.#forced.get(method) ?? []), ...answers]);
  }

  #of(token: string): Bot {
    const bot = this.#bots.get(token);
    if (bot === undefined) throw new Error('no bot of this token');
    return bot;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object, headers: Record<string, string> = {}): void => {
      if (response.writableEnded || response.destroyed) return;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const [, isFile, token = '', rest = ''] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(pathname) ?? [];
    if (!/^\d+:[\w-]+$/.test(token)) return send(404, refusal(404, 'Not Found'));
    const bot = this.#bots.get(token);
    if (bot === undefined) return send(401, refusal(401, 'Unauthorized'));
    if (isFile !== undefined) return this.#giveFile(decodeURIComponent(rest), response);
    let params: Params;
    try {
      params = await readParams(request, searchParams);
    } catch {
      return; // the bot was killed while it wrote: nothing was taken
    }
    const forced = this.#forced.get(rest)?.shift();
    if (forced === 'hold') return void (this.held += 1);
    if (typeof forced === 'object') {
      if (forced.body !== undefined) return send(forced.status, forced.body, forced.headers);
      return void response.writeHead(forced.status, forced.headers).end();
    }
    this.calls.push({ method: rest, bot: bot.id, params });
    try {
      if (rest === 'getUpdates') return this.#poll(bot, params, { response, send });
      const result = this.#call(bot, rest, params);
      if (forced === 'drop') return void request.socket.destroy();
      send(200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof TelegramRefusal)) throw error;
      send(error.code, refusal(error.code, error.message, error.parameters));
    }
  }

  #giveFile(path: string, response: ServerResponse): void {
    const bytes = this.chats.fileAt(path);
    if (bytes === undefined) return void response.writeHead(404).end();
    this.giveFile(response, { bytes, type: 'application/octet-stream' });
  }

  #call(bot: Bot, method: string, params: Params): unknown {
    const me = { id: bot.id, is_bot: true, first_name: bot.username, username: bot.username };
    switch (method) {
      case 'getMe':
        return { ...me, can_join_groups: true, can_read_all_group_messages: false, supports_inline_queries: false };
      case 'setWebhook': {
        const url = String(params['url'] ?? '');
        if (url !== '' && !url.startsWith('https://'))
          throw new TelegramRefusal(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook');
        bot.webhook = url === '' ? {} : params;
        return true;
      }
      case 'deleteWebhook':
        bot.webhook = {};
        return true;
      case 'getWebhookInfo':
        return {
          url: bot.webhook['url'] ?? '',
          has_custom_certificate: false,
          pending_update_count: bot.updates.length,
          allowed_updates: bot.webhook['allowed_updates'],
          ...bot.lastFailure,
        };
      default:
        return this.chats.call(method, params, me);
    }
  }

  /** F1. */
  #poll(
    bot: Bot,
    params: Params,
    { response, send }: { readonly response: ServerResponse; readonly send: (status: number, body: object) => void },
  ): void {
    if (bot.webhook['url'] !== undefined)
      throw new TelegramRefusal(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    const conflict =
      'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
    this.#end(bot.waiting, 409, refusal(409, conflict));
    bot.waiting = undefined;
    const asked = Number(params['offset'] ?? 0);
    const offset = asked > bot.nextUpdate + 10 ? 0 : asked;
    bot.confirmed.push(...bot.updates.filter((one) => one.update_id < offset).map((one) => one.update_id));
    bot.updates = bot.updates.filter((one) => one.update_id >= offset);
    const seconds = Math.min(Number(params['timeout'] ?? 0), 50);
    const ready = this.#from(bot, offset, Number(params['limit'] ?? 100));
    if (ready.length > 0 || seconds <= 0) return send(200, { ok: true, result: ready });
    const give = (): void => {
      if (bot.waiting?.answer === send) bot.waiting = undefined;
      send(200, { ok: true, result: this.#from(bot, offset) });
    };
    bot.waiting = { offset, answer: send, timer: setTimeout(give, seconds * 1_000) };
    response.once('close', () => {
      if (bot.waiting?.answer !== send) return;
      clearTimeout(bot.waiting.timer);
      bot.waiting = undefined;
    });
  }

  #from(bot: Bot, offset: number, limit = 100): readonly unknown[] {
    return bot.updates.filter((one) => one.update_id >= offset).slice(0, limit);
  }

  // oxlint-disable-next-line max-params -- an answer of HTTP
  #end(waiting: Waiting | undefined, status: number, body: object): void {
    clearTimeout(waiting?.timer);
    waiting?.answer(status, body);
  }
}

const refusal = (error_code: number, description: string, parameters?: object): object => ({
  ok: false,
  error_code,
  description,
  ...(parameters === undefined ? {} : { parameters }),
});
