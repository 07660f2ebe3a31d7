// The HTTP API of the fake Discord: paths of version 10, its status codes and error codes, and what it refuses of a message.
/* oxlint-disable eslint/no-restricted-properties -- a platform has limits of time of its own */
import { apiError, faultOf, invalid, notifiedBy, type RestAnswer, react } from './rules.ts';
import type { DiscordWorld, FakeAttachment, FakeChannel, FakeMessage, Json } from './world.ts';

export interface RestRequest {
  readonly method: string;
  /** Behind /api/v10. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly files: readonly Omit<FakeAttachment, 'id'>[];
}

/** What the API asks of the rest of the fake. */
export interface RestDeps {
  readonly world: DiscordWorld;
  readonly url: () => string;
  readonly gatewayUrl: () => string;
  /** Sessions that may begin, and connections that it advises. */
  readonly limits: () => { readonly sessionsLeft: number; readonly shards: number; readonly concurrency: number };
  /** How long a nonce is enforced. */
  readonly nonceMs: () => number;
  dispatch(type: string, data: Json): void;
  /** Whether that address answers as Discord wants it. */
  ping(url: string): Promise<boolean>;
  readonly publicKey: string;
}

const ok = (json: unknown): RestAnswer => ({ status: 200, json });
const DONE: RestAnswer = { status: 204 };
const UNKNOWN_CHANNEL = apiError(404, 10_003, 'Unknown Channel');
const UNKNOWN_MESSAGE = apiError(404, 10_008, 'Unknown Message');
const NO_ACCESS = apiError(403, 50_001, 'Missing Access');

/** The nonce is told with a new message alone, and so is who said it there. */
const fetched = ({ nonce: _, member: _member, ...message }: Json): Json => message;

/** 25 MiB. */
const MOST_REQUEST = 26_214_400;

type Handler = (request: RestRequest, parts: readonly string[]) => RestAnswer | Promise<RestAnswer>;

export class DiscordRest {
  readonly #deps: RestDeps;
  readonly #routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[];
  /** Nonce → message, and when it was posted. */
  readonly #nonces = new Map<string, { readonly message: FakeMessage; readonly at: number }>();

  constructor(deps: RestDeps) {
    this.#deps = deps;
    const { world } = deps;
    this.#routes = [
      ['GET', /^\/gateway\/bot$/, () => ok(this.#gateway())],
      ['GET', /^\/applications\/@me$/, () => ok(this.#application())],
      ['PATCH', /^\/applications\/@me$/, ({ body }) => this.#configure(body)],
      ['PUT', /^\/applications\/(\d+)\/commands$/, ({ body }) => this.#setCommands(body)],
      ['GET', /^\/users\/@me\/guilds$/, () => ok(world.guilds.map((id) => ({ id, name: 'Test' })))],
      ['POST', /^\/users\/@me\/channels$/, ({ body }) => ok(world.privateChannel(String(body['recipient_id'])))],
      ['GET', /^\/guilds\/(\d+)$/, (_, [id = '']) => this.#guild(id)],
      ['GET', /^\/guilds\/(\d+)\/channels$/, (_, [id = '']) => ok(this.#inGuild(id, (type) => type !== 11))],
      [
        'GET',
        /^\/guilds\/(\d+)\/threads\/active$/,
        (_, [id = '']) => ok({ threads: this.#inGuild(id, (type) => type === 11), members: [] }),
      ],
      ['GET', /^\/guilds\/\d+\/members\/(\d+)$/, (_, [id = '']) => this.#member(id)],
      ['GET', /^\/channels\/(\d+)\/messages$/, this.#inChannel((channel, { query }) => this.#history(channel, query))],
      ['GET', /^\/channels\/(\d+)\/messages\/(\d+)$/, this.#atMessage((message) => this.#shown(message))],
      ['POST', /^\/channels\/(\d+)\/messages$/, this.#inChannel((channel, request) => this.#create(channel, request))],
      [
        'PATCH',
        /^\/channels\/(\d+)\/messages\/(\d+)$/,
        this.#atMessage((message, { body }) => this.#edit(message, body)),
      ],
      ['DELETE', /^\/channels\/(\d+)\/messages\/(\d+)$/, this.#atMessage((message) => this.#remove(message))],
      [
        'PUT',
        /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
        this.#atMessage((message, _, emoji) => react(message, emoji, true)),
      ],
      [
        'DELETE',
        /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
        this.#atMessage((message, _, emoji) => react(message, emoji, false)),
      ],
      [
        'POST',
        /^\/channels\/(\d+)\/typing$/,
        this.#inChannel((channel) => {
          world.typing.push(channel.id);
          return DONE;
        }),
      ],
      [
        'POST',
        /^\/channels\/(\d+)\/messages\/(\d+)\/threads$/,
        this.#atMessage((message, { body }) => this.#openThread(message, body)),
      ],
      [
        'POST',
        /^\/interactions\/(\d+)\/([^/]+)\/callback$/,
        ({ body }, [id, token]) => this.#callback(id, token, body),
      ],
      [
        'PATCH',
        /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/,
        ({ body }, [, token]) => this.#original(token, body),
      ],
      [
        'DELETE',
        /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/,
        (_, [, token]) => this.#original(token, undefined),
      ],
    ];
  }

  /** Undefined when the path needs no bot token. */
  static needsToken(path: string): boolean {
    return !/^\/(?:interactions|webhooks)\//.test(path);
  }

  async answer(request: RestRequest): Promise<RestAnswer> {
    for (const [method, path, handler] of this.#routes) {
      const parts = method === request.method ? path.exec(request.path) : null;
      if (parts !== null) return handler(request, parts.slice(1));
    }
    return { status: 404, json: { message: '404: Not Found', code: 0 } };
  }

  #gateway(): Json {
    const { sessionsLeft, shards, concurrency } = this.#deps.limits();
    const session_start_limit = {
      total: 1_000,
      remaining: sessionsLeft,
      reset_after: 14_400_000,
      max_concurrency: concurrency,
    };
    return { url: this.#deps.gatewayUrl(), shards, session_start_limit };
  }

  #application(): Json {
    const { world, publicKey } = this.#deps;
    return {
      id: world.application,
      name: 'svc',
      bot: world.bot,
      flags: world.flags,
      verify_key: publicKey,
      interactions_endpoint_url: world.endpointUrl,
    };
  }

  async #configure(body: Json): Promise<RestAnswer> {
    const url = body['interactions_endpoint_url'];
    if (typeof url === 'string' && !(await this.#deps.ping(url)))
      return invalid(
        'interactions_endpoint_url',
        'APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID',
        'The specified interactions endpoint URL could not be verified.',
      );
    this.#deps.world.endpointUrl = typeof url === 'string' ? url : null;
    return ok(this.#application());
  }

  #setCommands(body: unknown): RestAnswer {
    if (!Array.isArray(body)) return apiError(400, 50_035, 'Invalid Form Body');
    const commands = body as readonly Json[];
    for (const [index, { name, description, options }] of commands.entries()) {
      if (typeof name !== 'string' || !/^[-_'\p{L}\p{N}]{1,32}$/u.test(name) || name !== name.toLowerCase())
        return invalid(String(index), 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid');
      if (typeof description !== 'string' || description.length < 1 || description.length > 100)
        return invalid(String(index), 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.');
      const all = (options ?? []) as readonly Json[];
      if (lengthOf({ name, description, options }) > 8_000)
        return invalid(String(index), 'APPLICATION_COMMAND_TOO_LARGE', 'Command exceeds maximum size (8000)');
      const limits = all.map((option) => ({ of: option['type'], numbers: [option['min_value'], option['max_value']] }));
      if (limits.some(({ of, numbers }) => numbers.some((one) => one !== undefined && !isLimit(one, of))))
        return invalid(String(index), 'NUMBER_TYPE_COERCE', 'The value is not a number that an option may have.');
      const needed = all.map(({ required }) => required === true);
      if (needed.some((is, at) => is && needed[at - 1] === false))
        return invalid(
          String(index),
          'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID',
          'Required options must be placed before non-required options',
        );
    }
    this.#deps.world.commands = commands;
    return ok(commands);
  }

  #guild(id: string): RestAnswer {
    const { world } = this.#deps;
    if (!world.guilds.includes(id)) return apiError(404, 10_004, 'Unknown Guild');
    const roles = [
      { id: world.guild, name: '@everyone', permissions: '2048' },
      { id: world.adminRole, name: 'admin', permissions: '32' },
      { id: world.botRole, name: world.bot.username, permissions: '0', managed: true, tags: { bot_id: world.bot.id } },
      { id: '539082325061836112', name: 'other', permissions: '0', managed: true, tags: { bot_id: '1' } },
    ];
    return ok({ id, name: 'Test', owner_id: world.owner, roles });
  }

  /** With what it last said. */
  #member(id: string): RestAnswer {
    const said = this.#deps.world.messages.findLast(({ author, member }) => author.id === id && member !== undefined);
    return said === undefined ? apiError(404, 10_007, 'Unknown Member') : ok({ nick: null, roles: [], ...said.member });
  }

  #inGuild(guild: string, is: (type: number) => boolean): readonly FakeChannel[] {
    return [...this.#deps.world.channels.values()].filter((channel) => is(channel.type) && channel.guild_id === guild);
  }

  #inChannel(run: (channel: FakeChannel, request: RestRequest) => RestAnswer): Handler {
    return (request, [id = '']) => {
      const channel = this.#deps.world.channels.get(id);
      if (channel === undefined) return UNKNOWN_CHANNEL;
      if (channel.isClosed !== true) return run(channel, request);
      return channel.recipient === undefined ? NO_ACCESS : apiError(403, 50_007, 'Cannot send messages to this user');
    };
  }

  #atMessage(run: (message: FakeMessage, request: RestRequest, part: string) => RestAnswer): Handler {
    return (request, [channel = '', id = '', part = '']) => {
      const message = this.#deps.world.find(channel, id);
      return message === undefined ? UNKNOWN_MESSAGE : run(message, request, decodeURIComponent(part));
    };
  }

  #shown(message: FakeMessage): RestAnswer {
    return ok(fetched(this.#deps.world.shown(message, this.#deps.url())));
  }

  /** The ones just behind `after`, or just before `before`, the newest of them first. */
  #history({ id, type }: FakeChannel, query: URLSearchParams): RestAnswer {
    const { world } = this.#deps;
    // Forums and media channels hold threads alone; their `last_message_id` is the newest of these.
    if (type === 15 || type === 16) return apiError(400, 50_024, 'Cannot execute action on this channel type');
    const url = this.#deps.url();
    const limit = Number(query.get('limit') ?? 50);
    const [after, before] = [query.get('after'), query.get('before')];
    const here = world.messages
      .filter((one) => one.channel_id === id && (before === null || BigInt(one.id) < BigInt(before)))
      .toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    const behind = here.filter((one) => after === null || BigInt(one.id) > BigInt(after));
    const found = after === null ? behind.slice(-limit) : behind.slice(0, limit);
    return ok(found.map((one) => fetched(world.shown(one, url))).reverse());
  }

  #create(channel: FakeChannel, { body, files }: RestRequest): RestAnswer {
    const { world } = this.#deps;
    const url = this.#deps.url();
    const nonce = body['nonce'] === undefined ? undefined : String(body['nonce']);
    const known = body['enforce_nonce'] === true && nonce !== undefined ? this.#nonces.get(nonce) : undefined;
    if (known !== undefined && performance.now() - known.at < this.#deps.nonceMs())
      return ok(world.shown(known.message, url));
    const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size > MOST_REQUEST) return apiError(413, 40_005, 'Request entity too large');
    const fault = faultOf(body, files.length) ?? this.#replyFault(body);
    if (fault !== undefined) return fault;
    const content = String(body['content'] ?? '');
    const message = world.add({
      channel_id: channel.id,
      author: world.bot,
      content,
      components: body['components'] ?? [],
      notified: notifiedBy(content, (body['allowed_mentions'] ?? { parse: ['users', 'roles', 'everyone'] }) as Json),
      attachments: files.map((file) => ({ ...file, id: world.snowflake() })),
      ...(body['message_reference'] === undefined ? {} : { message_reference: body['message_reference'] as Json }),
      ...(nonce === undefined ? {} : { nonce }),
    });
    if (nonce !== undefined) this.#nonces.set(nonce, { message, at: performance.now() });
    const guild = channel.guild_id === undefined ? {} : { guild_id: channel.guild_id };
    this.#deps.dispatch('MESSAGE_CREATE', { ...world.shown(message, url), ...guild });
    return ok(world.shown(message, url));
  }

  #replyFault(body: Json): RestAnswer | undefined {
    const to = body['message_reference'] as
      | { readonly message_id?: string; readonly fail_if_not_exists?: boolean }
      | undefined;
    const isThere = to === undefined || this.#deps.world.messages.some(({ id }) => id === to.message_id);
    return isThere || to.fail_if_not_exists === false
      ? undefined
      : invalid('message_reference', 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', 'Unknown message');
  }

  #edit(message: FakeMessage, body: Json): RestAnswer {
    if (message.author.id !== this.#deps.world.bot.id)
      return apiError(403, 50_005, 'Cannot edit a message authored by another user');
    const fault = faultOf(body, message.attachments.length);
    if (fault !== undefined) return fault;
    message.content = String(body['content'] ?? message.content);
    message.components = body['components'] ?? message.components;
    message.edited_timestamp = new Date().toISOString();
    return this.#shown(message);
  }

  #remove(message: FakeMessage): RestAnswer {
    const { world } = this.#deps;
    world.remove(message);
    const { guild_id } = world.channels.get(message.channel_id) ?? {};
    this.#deps.dispatch('MESSAGE_DELETE', { id: message.id, channel_id: message.channel_id, guild_id });
    return DONE;
  }

  #openThread(message: FakeMessage, body: Json): RestAnswer {
    const { world } = this.#deps;
    // Neither in private, nor in a thread, nor in what is said beside a voice channel.
    if (![0, 5].includes(world.channels.get(message.channel_id)?.type ?? 0))
      return apiError(400, 50_024, 'Cannot execute action on this channel type');
    if (world.channels.has(message.id))
      return apiError(400, 160_004, 'A thread has already been created for this message');
    const name = String(body['name'] ?? '');
    if (name === '' || name.length > 100)
      return invalid('name', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.');
    return { status: 201, json: world.addChannel(message.id, { type: 11, parent_id: message.channel_id, name }) };
  }

  #callback(id: string | undefined, token: string | undefined, body: Json): RestAnswer {
    const found = this.#deps.world.interactions.find((one) => one.id === id && one.token === token);
    if (found === undefined) return apiError(404, 10_062, 'Unknown interaction');
    if (found.answer !== undefined) return apiError(400, 40_060, 'Interaction has already been acknowledged.');
    found.answer = body;
    if (body['type'] === 5) found.original = { content: '', isDeleted: false };
    return DONE;
  }

  #original(token: string | undefined, body: Json | undefined): RestAnswer {
    const { interactions, isDeferredElsewhere } = this.#deps.world;
    const found = interactions.find((one) => one.token === token);
    if (found === undefined && isDeferredElsewhere)
      return body === undefined ? DONE : ok({ id: this.#deps.world.snowflake(), content: body['content'] });
    if (found === undefined) return apiError(404, 10_015, 'Unknown Webhook');
    if (found.original === undefined || found.original.isDeleted) return UNKNOWN_MESSAGE;
    if (body === undefined) found.original.isDeleted = true;
    else found.original.content = String(body['content']);
    return body === undefined ? DONE : ok({ id: found.id, content: found.original.content });
  }
}

/** Names, descriptions and values of a command, its options and their choices. */
function lengthOf(of: Json): number {
  const own = [of['name'], of['description'], of['value']].map((one) => (typeof one === 'string' ? one.length : 0));
  const inner = [of['options'], of['choices']].flatMap((list) => (Array.isArray(list) ? (list as Json[]) : []));
  return [...own, ...inner.map(lengthOf)].reduce((sum, one) => sum + one, 0);
}

/** Of an integer (4) or a number. */
const isLimit = (value: unknown, type: unknown): boolean =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER && (type !== 4 || Number.isInteger(value));
