// Methods of the Web API over a workspace in memory, with the errors that their documentation lists.

export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  readonly text: string;
  readonly blocks: readonly unknown[];
  readonly thread: string | undefined;
  /** Shown to this person alone. */
  readonly only: string | undefined;
  readonly files: readonly string[];
  readonly reactions: readonly string[];
  readonly isEdited: boolean;
  readonly metadata: unknown;
}

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  bytes: Buffer;
}

interface HistoryMessage {
  readonly type: 'message';
  readonly user: string;
  readonly text: string;
  readonly ts: string;
  readonly thread_ts?: string | undefined;
  readonly [key: string]: unknown;
}

/** Arguments of a call, JSON in them still as text, as forms carry it. */
export type Args = Readonly<Record<string, string | undefined>>;
export type Reply = Readonly<Record<string, unknown>> & { readonly ok: boolean };

const fail = (error: string, more: object = {}): Reply => ({ ok: false, error, ...more });
const listIn = (text: string | undefined): readonly unknown[] =>
  text === undefined ? [] : (JSON.parse(text) as unknown[]);

export class SlackWorkspace {
  readonly team = 'T123ABC456';
  readonly bot = 'U0LAN0Z89';
  readonly app = 'A123ABC456';
  /** Oldest first; what was deleted is not there. */
  messages: SlackMessage[] = [];
  readonly files = new Map<string, SlackFile>();
  /** What people said that the history tells of. */
  readonly said: (HistoryMessage & { readonly channel: string })[] = [];
  /** Most that one page of a history holds, whatever is asked for. */
  mostHistory = 1_000;
  readonly channels = new Map<string, 'open' | 'archived' | 'foreign' | 'shared'>([
    ['C123ABC456', 'open'],
    ['C0ARCHIVED', 'archived'],
    ['C0FOREIGN', 'foreign'],
  ]);
  /** What is told of persons beside their ids; others are not found. */
  readonly people = new Map<string, Readonly<Record<string, unknown>>>();
  #clock = 1_700_000_000;

  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  answer(method: string, args: Args): Reply {
    const run = this.#methods[method];
    return run === undefined ? fail('unknown_method', { req_method: method }) : run(args);
  }

  readonly #methods: Readonly<Record<string, (args: Args) => Reply>> = {
    'api.test': (args) => ({ ok: true, args }),
    'auth.test': () => ({
      ok: true,
      url: 'https://example.slack.com/',
      team: 'Example',
      user: 'svc',
      team_id: this.team,
      user_id: this.bot,
      bot_id: 'B123ABC456',
      is_enterprise_install: false,
    }),
    'users.info': ({ user = '' }) => {
      const told = this.people.get(user);
      const none = { is_admin: false, is_owner: false, is_primary_owner: false, is_bot: false };
      return told === undefined
        ? fail('user_not_found')
        : { ok: true, user: { id: user, team_id: this.team, deleted: false, ...none, ...told } };
    },
    'conversations.open': ({ users = '' }) => ({ ok: true, channel: { id: direct(users) } }),
    'users.conversations': () => ({
      ok: true,
      channels: [...this.channels]
        .filter(([, state]) => state === 'open' || state === 'shared')
        .map(([id, state]) => ({ id, is_channel: true, is_ext_shared: state === 'shared' })),
    }),
    // Newest first, the roots of threads and what is in none; a thread is told from its root on.
    'conversations.history': (args) =>
      this.#page(
        args,
        this.#seen(args)
          .filter(({ ts, thread_ts: root }) => root === undefined || root === ts)
          .reverse(),
      ),
    'conversations.replies': (args) => {
      const { ts } = args;
      const thread = this.#seen({ ...args, oldest: '0' }).filter((one) => one['ts'] === ts || one['thread_ts'] === ts);
      if (thread.length === 0) return fail('thread_not_found');
      const oldest = Number(args['oldest'] ?? 0);
      return this.#page(
        args,
        thread.filter((one) => one['ts'] === ts || Number(one['ts']) > oldest),
      );
    },
    'chat.postMessage': (args) => this.#post(args, undefined),
    'chat.postEphemeral': (args) => {
      if (args['user'] === undefined) return fail('user_not_in_channel');
      const { ts, ...posted } = this.#post(args, args['user']);
      return posted.ok ? { ok: true, message_ts: ts } : posted;
    },
    'chat.update': (args) => {
      const found = this.#find(args['channel'], args['ts']);
      if (found === undefined) return fail('message_not_found');
      const [text, blocks] = [args['text'] ?? found.text, args['blocks']];
      this.#replace(found, { text, isEdited: true, ...(blocks === undefined ? {} : { blocks: listIn(blocks) }) });
      return { ok: true, channel: found.channel, ts: found.ts, text };
    },
    'chat.delete': (args) => {
      const found = this.#find(args['channel'], args['ts']);
      if (found === undefined) return fail('message_not_found');
      this.messages = this.messages.filter((one) => one !== found);
      return { ok: true, channel: found.channel, ts: found.ts };
    },
    'reactions.add': (args) => this.#react(args, true),
    'reactions.remove': (args) => this.#react(args, false),
    'files.getUploadURLExternal': ({ filename, length }) => {
      if (filename === undefined || !(Number(length) > 0)) return fail('invalid_arguments');
      const id = `F${String(this.files.size + 1).padStart(9, '0')}`;
      this.files.set(id, { id, name: filename, bytes: Buffer.alloc(0) });
      return { ok: true, upload_url: `${this.#url()}/upload/v1/${id}`, file_id: id };
    },
    'files.completeUploadExternal': (args) => {
      const ids = listIn(args['files']).map((one) => (one as { id: string }).id);
      if (ids.some((id) => (this.files.get(id)?.bytes.length ?? 0) === 0)) return fail('file_not_found');
      const posted = this.#post(
        { ...args, channel: args['channel_id'] ?? args['channels'], text: args['initial_comment'] ?? ' ' },
        undefined,
      );
      if (!posted.ok) return posted;
      const message = this.messages.at(-1);
      if (message !== undefined) this.#replace(message, { files: ids });
      return { ok: true, files: ids.map((id) => ({ id })) };
    },
    'files.info': ({ file = '' }) => {
      const found = this.files.get(file);
      if (found === undefined) return fail('file_not_found');
      const placed = this.messages
        .filter(({ files }) => files.includes(file))
        .map(({ channel, ts }) => [channel, [{ ts }]]);
      const address = `${this.#url()}/files-pri/${this.team}-${file}/${encodeURIComponent(found.name)}`;
      const shares = { public: Object.fromEntries(placed) as unknown };
      return { ok: true, file: { id: file, name: found.name, url_private_download: address, shares } };
    },
  };

  #post(args: Args, only: string | undefined): Reply {
    const { channel = '', text = '', blocks, thread_ts: thread } = args;
    const metadata: unknown = args['metadata'] === undefined ? undefined : JSON.parse(args['metadata']);
    const place = /^[UW]/.test(channel) ? direct(channel) : channel;
    const state = place.startsWith('D') ? 'open' : this.channels.get(place);
    if (state === undefined) return fail('channel_not_found');
    if (state !== 'open' && state !== 'shared') return fail(state === 'archived' ? 'is_archived' : 'not_in_channel');
    if (text === '' && blocks === undefined) return fail('no_text');
    if (text.length > 40_000) return fail('msg_too_long');
    const sections = listIn(blocks) as readonly { readonly text?: { readonly text: string } }[];
    if (sections.some((one) => (one.text?.text.length ?? 0) > 3_000)) return fail('invalid_blocks');
    this.#clock += 1;
    const ts = `${this.#clock}.000100`;
    const rest = { files: [], reactions: [], isEdited: false, metadata };
    this.messages.push({ channel: place, ts, text, blocks: sections, thread, only, ...rest });
    return { ok: true, channel: place, ts, message: { type: 'message', user: this.bot, text, ts, app_id: this.app } };
  }

  /** What people said, beside what the app has posted: as the history tells it, oldest first. */
  #seen({ channel, include_all_metadata: all, oldest = '0' }: Args): readonly HistoryMessage[] {
    const there = this.messages.filter((one) => one.channel === channel && one.only === undefined);
    const posted = there.map(({ text, ts, thread, metadata }): HistoryMessage => {
      const more = all === 'true' && metadata !== undefined ? { metadata } : {};
      const { bot: user, app: app_id } = this;
      return { type: 'message', user, bot_id: 'B123ABC456', app_id, text, ts, thread_ts: thread, ...more };
    });
    const said = this.said.filter((one) => one.channel === channel).map(({ channel: _, ...one }) => one);
    const everything = [...posted, ...said];
    const replies = (root: string) => everything.filter((one) => one.thread_ts === root && one.ts !== root);
    return everything
      .filter(({ ts }) => Number(ts) > Number(oldest))
      .map((one) => {
        const latest = replies(one.ts)
          .map(({ ts }) => ts)
          .toSorted()
          .at(-1);
        const thread = { thread_ts: one.ts, reply_count: replies(one.ts).length, latest_reply: latest };
        return latest === undefined ? one : { ...one, ...thread };
      })
      .toSorted((a, b) => Number(a.ts) - Number(b.ts));
  }

  #page({ channel = '', limit = '100', cursor = '0' }: Args, all: readonly HistoryMessage[]): Reply {
    const state = channel.startsWith('D') ? 'open' : this.channels.get(channel);
    if (state === undefined) return fail('channel_not_found');
    if (state === 'foreign') return fail('not_in_channel');
    const from = Number(cursor);
    const to = from + Math.min(Number(limit), this.mostHistory);
    const more = to < all.length ? { response_metadata: { next_cursor: String(to) } } : {};
    return { ok: true, messages: all.slice(from, to), has_more: to < all.length, ...more };
  }

  #react({ channel, timestamp, name = '' }: Args, on: boolean): Reply {
    const found = this.#find(channel, timestamp);
    if (found === undefined) return fail('message_not_found');
    if (!/^[a-z0-9_+'-]+(::skin-tone-[2-6])?$/.test(name)) return fail('invalid_name');
    if (found.reactions.includes(name) === on) return fail(on ? 'already_reacted' : 'no_reaction');
    const others = found.reactions.filter((one) => one !== name);
    this.#replace(found, { reactions: on ? [...others, name] : others });
    return { ok: true };
  }

  #find(channel: string | undefined, ts: string | undefined): SlackMessage | undefined {
    return this.messages.find((one) => one.channel === channel && one.ts === ts && one.only === undefined);
  }

  #replace(found: SlackMessage, change: Partial<SlackMessage>): void {
    this.messages = this.messages.map((one) => (one === found ? { ...one, ...change } : one));
  }
}

/** The channel of the bot with a person. */
const direct = (user: string): string => `D${user.slice(1)}`;
