// What is in a Discord that one bot sees: servers, channels, messages, commands, interactions. Ids are snowflakes that grow.
import { isDeepStrictEqual } from 'node:util';

export type Json = Readonly<Record<string, unknown>>;

export interface FakeChannel {
  readonly id: string;
  readonly type: number;
  readonly guild_id?: string;
  readonly parent_id?: string;
  readonly name?: string;
  /** Of a private channel. */
  readonly recipient?: string;
  last_message_id?: string;
  /** The bot may neither read nor write. */
  isClosed?: true;
}

export interface FakeAttachment {
  readonly id: string;
  readonly filename: string;
  readonly content_type: string;
  readonly bytes: Buffer;
}

export interface FakeMessage {
  readonly id: string;
  readonly channel_id: string;
  readonly author: { readonly id: string; readonly username: string; readonly bot?: true };
  /** Who said it, in a server. */
  readonly member?: Json;
  readonly attachments: readonly FakeAttachment[];
  readonly message_reference?: Json;
  readonly nonce?: string;
  /** Its content and files are those of a message that somebody has forwarded: they are in its snapshot alone. */
  isForwarded?: true;
  content: string;
  components: unknown;
  edited_timestamp: string | null;
  /** Whom it has notified. */
  readonly notified: readonly string[];
  readonly reactions: string[];
}

export interface FakeInteraction {
  readonly id: string;
  readonly token: string;
  /** What was answered, once. */
  answer?: Json;
  /** `@original`, once there is one. */
  original?: { content: string; isDeleted: boolean };
}

const EPOCH_MS = 1_420_070_400_000n;

export class DiscordWorld {
  readonly application = '845027738276462632';
  readonly bot = { id: '845027738276462777', username: 'svc', discriminator: '0', bot: true } as const;
  readonly guild = '290926798626357999';
  /** All servers that the bot is in. */
  readonly guilds = [this.guild];
  /** A text channel of the server. */
  readonly channel = '645027906669510667';
  readonly owner = '53908232506183680';
  /** A role that may manage the server. */
  readonly adminRole = '539082325061836999';
  /** The role that Discord made for the bot, and which is called like it. */
  readonly botRole = '539082325061836111';
  readonly channels = new Map<string, FakeChannel>();
  readonly messages: FakeMessage[] = [];
  readonly interactions: FakeInteraction[] = [];
  /** Interactions are made elsewhere, and all answered with "thinking…": a token that is not known here is one of them. */
  isDeferredElsewhere = false;
  commands: readonly Json[] = [];
  endpointUrl: string | null = null;
  /** Of the application: the intent MESSAGE_CONTENT is switched on. */
  flags = 1 << 19;
  /** Who was told by the bot that it types. */
  readonly typing: string[] = [];
  #sequence = 0n;

  constructor() {
    this.addChannel(this.channel);
  }

  /** One that is larger than all before it. */
  snowflake(): string {
    this.#sequence += 1n;
    return String(((BigInt(Date.now()) - EPOCH_MS) << 22n) + this.#sequence);
  }

  addChannel(id: string, more: Partial<FakeChannel> = {}): FakeChannel {
    const channel = { id, type: 0, guild_id: this.guild, name: `channel-${id.slice(-4)}`, ...more };
    this.channels.set(id, channel);
    return channel;
  }

  /** Another server that the bot is in; its text channel. */
  addServer(id: string): FakeChannel {
    this.guilds.push(id);
    return this.addChannel(this.snowflake(), { guild_id: id });
  }

  /** The private channel with this person, the same each time. */
  privateChannel(person: string): FakeChannel {
    const known = [...this.channels.values()].find(({ recipient }) => recipient === person);
    if (known !== undefined) return known;
    const channel = { id: this.snowflake(), type: 1, recipient: person };
    this.channels.set(channel.id, channel);
    return channel;
  }

  add(message: Partial<FakeMessage> & Pick<FakeMessage, 'channel_id' | 'author' | 'content'>): FakeMessage {
    const added: FakeMessage = {
      id: this.snowflake(),
      attachments: [],
      components: [],
      edited_timestamp: null,
      notified: [],
      reactions: [],
      ...message,
    };
    this.messages.push(added);
    const channel = this.channels.get(added.channel_id);
    if (channel !== undefined) channel.last_message_id = added.id;
    return added;
  }

  find(channel: string, id: string): FakeMessage | undefined {
    return this.messages.find((one) => one.channel_id === channel && one.id === id);
  }

  remove(message: FakeMessage): void {
    const at = this.messages.findIndex((one) => isDeepStrictEqual(one, message));
    if (at !== -1) this.messages.splice(at, 1);
  }

  /** Texts of the bot, in their order. */
  said(channel?: string): readonly string[] {
    return this.messages
      .filter(({ author, channel_id: at }) => author.id === this.bot.id && (channel === undefined || at === channel))
      .map(({ content }) => content);
  }

  /** As the API shows it. */
  shown(message: FakeMessage, url: string): Json {
    const { notified: _, reactions: __, isForwarded, ...rest } = message;
    const file = ({ id, filename, content_type, bytes }: FakeAttachment) => ({
      id,
      filename,
      content_type,
      size: bytes.length,
      url: `${url}/attachments/${message.channel_id}/${id}/${encodeURIComponent(filename)}?ex=1&is=2&hm=3`,
      proxy_url: `${url}/proxy`,
    });
    const attachments = message.attachments.map(file);
    const snapshot = { type: 0, content: message.content, attachments };
    return {
      type: message.message_reference === undefined ? 0 : 19,
      tts: false,
      pinned: false,
      mention_everyone: message.notified.includes('everyone'),
      mentions: [...message.content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => ({ id, username: `user-${id}` })),
      mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id),
      embeds: [],
      timestamp: new Date(Number((BigInt(message.id) >> 22n) + EPOCH_MS)).toISOString(),
      ...rest,
      ...(isForwarded === true
        ? { content: '', attachments: [], message_snapshots: [{ message: snapshot }] }
        : { attachments }),
    };
  }
}
