// A Discord on the loopback address, as its documentation describes it: the API over HTTP, the gateway over a WebSocket, interactions that it
// signs and delivers. Discord's own clients are driven against it in test/platforms/discord/fake.test.ts.
//
//   P1  Every answer about messages of a channel has the headers of its bucket; a call over the limit is 429 with Retry-After. What `next` says
//       comes before all of it.
//   P2  A session that is resumed is told all that it has not heard; one that was forgotten is invalid.
//   P3  An address for interactions is asked with a good and with a bad signature before it is taken.
/* oxlint-disable eslint/no-restricted-properties -- a platform has limits of time of its own */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { wholeBody } from '../http/whole-body.ts';
import type { Cleanup } from '../temporary-project.ts';
import { DiscordGateway } from './discord/gateway.ts';
import { DiscordRest, type RestRequest } from './discord/rest.ts';
import type { RestAnswer } from './discord/rules.ts';
import { DiscordWorld, type FakeInteraction, type FakeMessage, type Json } from './discord/world.ts';
import { type FileAnswer, wholeFile } from './file-answer.ts';
import { type Pace, paced } from './paced.ts';

/**
 * What happens to a call instead of its answer; `drop` does the work and cuts the connection, `hold` does it and says nothing, `slow` begins
 * with it late.
 */
export type Misfortune =
  | { readonly slow: Promise<void> }
  | 'drop'
  | 'hold'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

interface Bucket {
  used: number;
  resetAt: number;
}

export class FakeDiscord {
  readonly token = 'ODQ1MDI3NzM4Mjc2NDYyNzc3.GabcdE.fake-token-of-the-bot-0123456789abcd';
  readonly world = new DiscordWorld();
  readonly gateway: DiscordGateway;
  /** Calls of the API: method and path. */
  readonly calls: string[] = [];
  giveFile: FileAnswer = wholeFile;
  /** How long its calls are under way. */
  pace: Pace | undefined;
  readonly requests: RestRequest[] = [];
  /** Those that it cannot serve now (500). */
  isDown: (call: RestRequest) => boolean = () => false;
  /** How long every call of a channel is told to wait (429); undefined: not at all. */
  waitMs: number | undefined;
  /** Calls whose answer is held back for good. */
  held = 0;
  /** How long a nonce is enforced: Discord says a few minutes. */
  nonceMs = 180_000;
  /** Of the messages of one channel. */
  limit = { calls: 1_000, perMs: 1_000 };
  /** Where a public address leads to on this machine. */
  reach: (url: string) => string = (url) => url;
  readonly publicKey: string;
  readonly #key: KeyObject;
  readonly #rest: DiscordRest;
  readonly #next: { readonly of: RegExp; readonly misfortune: Misfortune }[] = [];
  readonly #buckets = new Map<string, Bucket>();
  readonly #http: Server = createServer(paced(this, (request, response) => void this.#serve(request, response)));

  constructor() {
    const pair = generateKeyPairSync('ed25519');
    this.#key = pair.privateKey;
    this.publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const { world, token } = this;
    const shown = (id: string) => ({ id, name: 'Test', owner_id: world.owner, channels: [], threads: [], roles: [] });
    this.gateway = new DiscordGateway({
      token,
      url: () => this.#gatewayUrl,
      ready: () => ({
        ready: {
          user: world.bot,
          application: { id: world.application, flags: 0 },
        },
        guilds: world.guilds.map(shown),
      }),
    });
    this.#rest = new DiscordRest({
      world,
      url: () => this.url,
      gatewayUrl: () => this.#gatewayUrl,
      limits: () => this.gateway,
      nonceMs: () => this.nonceMs,
      dispatch: (type, data) => this.gateway.dispatch(type, data),
      ping: (url) => this.#pings(url),
      publicKey: this.publicKey,
    });
  }

  static async start(t: Cleanup): Promise<FakeDiscord> {
    const discord = new FakeDiscord();
    discord.#http.on('upgrade', (request, socket: Duplex, head) => discord.gateway.upgrade(request, socket, head));
    await new Promise<void>((resolve) => discord.#http.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      discord.gateway.stop();
      discord.#http.closeAllConnections();
      discord.#http.close();
    });
    return discord;
  }

  /** Another address at which it is reached. */
  front: string | undefined;
  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }
  get apiUrl(): string {
    return `${this.url}/api`;
  }
  get #gatewayUrl(): string {
    return (this.front ?? this.url).replace('http', 'ws');
  }

  /** What happens to the next call that this fits, as `METHOD /path`. */
  next(of: RegExp, misfortune: Misfortune): void {
    this.#next.push({ of, misfortune });
  }

  /** A person says something; told to the sessions there are. */
  says(
    content: string,
    {
      channel = this.world.channel,
      author = '80351110224678912',
      ...more
    }: Json & { readonly channel?: string; readonly author?: string } = {},
  ): FakeMessage {
    const { world } = this;
    const message = world.add({
      channel_id: channel,
      author: { id: author, username: `user-${author}` },
      content,
      ...more,
    });
    const { guild_id: guild, recipient } = world.channels.get(channel) ?? {};
    const inGuild =
      guild === undefined
        ? {}
        : { guild_id: guild, member: { nick: null, roles: [], ...(more['member'] as object | undefined) } };
    this.gateway.dispatch('MESSAGE_CREATE', {
      ...world.shown(message, this.url),
      ...(recipient === undefined ? inGuild : {}),
    });
    return message;
  }

  /** Who said it says it otherwise. */
  changes(message: FakeMessage, content: string): void {
    const { world } = this;
    message.content = content;
    message.edited_timestamp = new Date().toISOString();
    const { guild_id } = world.channels.get(message.channel_id) ?? {};
    this.gateway.dispatch('MESSAGE_UPDATE', { ...world.shown(message, this.url), guild_id });
  }

  /** A command or a press, as it is delivered; over the gateway unless it is given to `deliver`. */
  interaction(data: Json, more: Json = {}): Json & FakeInteraction {
    const { world } = this;
    const id = world.snowflake();
    const interaction = { id, token: `interaction-token-${id}` };
    world.interactions.push(interaction);
    const user = { id: '53908232506183680', username: 'Mason', discriminator: '1337' };
    const member = { user, roles: ['539082325061836999'], permissions: '2147483647', nick: null };
    const where = {
      guild_id: world.guild,
      channel_id: world.channel,
      channel: { id: world.channel, name: 'general', type: 0 },
    };
    return {
      ...interaction,
      application_id: world.application,
      type: 2,
      version: 1,
      context: 0,
      data,
      member,
      ...where,
      ...more,
    };
  }

  signed(body: string, { at = Math.floor(Date.now() / 1_000), key = this.#key } = {}): Record<string, string> {
    const signature = sign(null, Buffer.from(`${at}${body}`), key).toString('hex');
    return { 'x-signature-ed25519': signature, 'x-signature-timestamp': String(at) };
  }

  /** Over HTTP, signed; what is answered counts as the answer to it. */
  async deliver(url: string, interaction: Json): Promise<Response> {
    const body = JSON.stringify(interaction);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.signed(body) },
      body,
    });
    const known = this.world.interactions.find(({ id }) => id === interaction['id']);
    if (response.ok && known !== undefined) {
      known.answer = (await response.clone().json()) as Json;
      if (known.answer['type'] === 5) known.original = { content: '', isDeleted: false };
    }
    return response;
  }

  /** P3. */
  async #pings(url: string): Promise<boolean> {
    const body = JSON.stringify({
      type: 1,
      id: this.world.snowflake(),
      application_id: this.world.application,
      version: 1,
    });
    const ask = (headers: Record<string, string>): Promise<Response> =>
      fetch(this.reach(url), { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
    try {
      const bad = await ask(this.signed(body, { key: generateKeyPairSync('ed25519').privateKey }));
      const good = await ask(this.signed(body));
      return bad.status === 401 && good.status === 200 && ((await good.json()) as Json)['type'] === 1;
    } catch {
      return false;
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await wholeBody(request);
    if (bytes === undefined) return;
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.url);
    const [, file] = /^\/attachments\/\d+\/(\d+)\//.exec(pathname) ?? [];
    if (file !== undefined) return this.#serveFile(file, response);
    if (!pathname.startsWith('/api/v10/')) return void response.writeHead(404).end();
    const { body, files } = await read(request, bytes);
    const call = { method: request.method ?? '', path: pathname.slice('/api/v10'.length), query, body, files };
    this.calls.push(`${call.method} ${call.path}`);
    this.requests.push(call);
    if (this.isDown(call)) return void response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    if (this.waitMs !== undefined && call.path.startsWith('/channels/')) return tooMany(response, this.waitMs);
    const at = this.#next.findIndex(({ of }) => of.test(`${call.method} ${call.path}`));
    const misfortune = at === -1 ? undefined : this.#next.splice(at, 1)[0]?.misfortune;
    if (typeof misfortune === 'object' && 'slow' in misfortune) await misfortune.slow;
    else if (typeof misfortune === 'object')
      return void response
        .writeHead(misfortune.status, { 'content-type': 'application/json', ...misfortune.headers })
        .end(misfortune.body ?? '{}');
    const limited = this.#count(call, response);
    const answer = limited ?? (await this.#answer(call, request));
    if (misfortune === 'hold') return void (this.held += 1);
    if (misfortune === 'drop') return void request.socket.destroy();
    response.writeHead(answer.status, answer.status === 204 ? {} : { 'content-type': 'application/json' });
    response.end(answer.status === 204 ? undefined : JSON.stringify(answer.json));
  }

  #answer(call: RestRequest, request: IncomingMessage): RestAnswer | Promise<RestAnswer> {
    const isAllowed = request.headers.authorization === `Bot ${this.token}` || !DiscordRest.needsToken(call.path);
    return isAllowed ? this.#rest.answer(call) : { status: 401, json: { message: '401: Unauthorized', code: 0 } };
  }

  /** P1. */
  #count({ method, path }: RestRequest, response: ServerResponse): RestAnswer | undefined {
    const [, channel] = /^\/channels\/(\d+)\/messages$/.exec(path) ?? [];
    if (channel === undefined || method !== 'POST') return undefined;
    const now = performance.timeOrigin + performance.now(); // its own clock, whatever becomes of ours
    const known = this.#buckets.get(channel);
    const bucket = known === undefined || known.resetAt <= now ? { used: 0, resetAt: now + this.limit.perMs } : known;
    this.#buckets.set(channel, bucket);
    const isOver = bucket.used >= this.limit.calls;
    if (!isOver) bucket.used += 1;
    const seconds = (bucket.resetAt - now) / 1_000;
    const headers = {
      'x-ratelimit-limit': this.limit.calls,
      'x-ratelimit-remaining': this.limit.calls - bucket.used,
      'x-ratelimit-reset': bucket.resetAt / 1_000,
      'x-ratelimit-reset-after': seconds,
      'x-ratelimit-bucket': 'abcd1234',
    };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
    if (!isOver) return undefined;
    response.setHeader('retry-after', String(seconds));
    response.setHeader('x-ratelimit-scope', 'user');
    return { status: 429, json: { message: 'You are being rate limited.', retry_after: seconds, global: false } };
  }

  #serveFile(id: string, response: ServerResponse): void {
    const file = this.world.messages.flatMap(({ attachments }) => attachments).find((one) => one.id === id);
    if (file === undefined) return void response.writeHead(404).end();
    this.giveFile(response, { bytes: file.bytes, type: file.content_type });
  }
}

function tooMany(response: ServerResponse, waitMs: number): void {
  const seconds = waitMs / 1_000;
  response.writeHead(429, {
    'content-type': 'application/json',
    'retry-after': String(seconds),
    'x-ratelimit-scope': 'user',
  });
  response.end(JSON.stringify({ message: 'You are being rate limited.', retry_after: seconds, global: false }));
}

async function read(request: IncomingMessage, bytes: Buffer): Promise<Pick<RestRequest, 'body' | 'files'>> {
  const type = request.headers['content-type'] ?? '';
  if (bytes.length === 0) return { body: {}, files: [] };
  if (type.startsWith('application/json')) return { body: JSON.parse(bytes.toString()) as Json, files: [] };
  const form = await new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } }).formData();
  const files = [];
  for (const [name, value] of form) {
    if (typeof value === 'string' || !name.startsWith('files[')) continue;
    files.push({ filename: value.name, content_type: value.type, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  const json = form.get('payload_json');
  return { body: typeof json === 'string' ? (JSON.parse(json) as Json) : {}, files };
}
