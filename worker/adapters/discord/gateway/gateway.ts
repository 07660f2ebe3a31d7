// Stores dispatches of the gateway in the inbox, and with them the position up to which they are stored.
//
//   DISCORD-GATEWAY-1  Dispatches are stored in order of arrival, in batches, each with the position after it. A failed batch is retried. Discord
//                      replays dispatches that were not stored before the process ended.
//   DISCORD-GATEWAY-2  An interaction is stored at once and then answered, because Discord waits three seconds. The batch contains the interaction
//                      again, and the inbox drops the duplicate.
//   DISCORD-GATEWAY-3  After a gap, missed messages are fetched before newer ones are stored, to keep the order. Newer ones wait for `gapMs` at most,
//                      and no more than MOST_HELD of them. Without these limits the queue would overflow, end the connection, and abort the fetch
//                      each time.
//   DISCORD-GATEWAY-4  With more than MOST_WAITING dispatches queued, the connection is ended. A resume starts after the last stored dispatch, and
//                      Discord replays the rest.

import type { Arrival, Link } from '../../../sdk/index.ts';
import { asObject, type Json, textAt } from '../../../sdk/platform/foreign-json.ts';
import { call } from '../client.ts';
import { type Account, intentBits } from '../config.ts';
import { guildAdminsOf, prepareGuilds } from '../guild-admins.ts';
import { deferredOfAccount } from '../interactions/deferred.ts';
import { answerTo, deferredOf } from '../interactions/interactions.ts';
import { arrivalsOf, type Context, type Told } from '../parse.ts';
import { identifiesOf } from './identify.ts';
import type { Behind, Position } from './position.ts';
import { type Dispatched, Shard, type ShardEnd, type ShardOf } from './shard.ts';

export interface GatewayTiming {
  readonly readyMs: number;
  /** Delay before a failed write to the inbox is retried. */
  readonly retryMs: number;
  /** Interval at which the position is stored while dispatches produce no events. */
  readonly positionMs: number;
  /** Longest time that new messages wait for those missed in a gap. */
  readonly gapMs: number;
  /** Delay before a failed fetch of missed messages is retried. */
  readonly fillMs: number;
  /** Time between two new sessions. Discord documents 5 seconds. */
  readonly identifyMs: number;
  /** First delay before one lost connection among several is reopened. */
  readonly againMs: number;
}
export const TIMING: GatewayTiming = {
  readyMs: 30_000,
  retryMs: 1_000,
  positionMs: 30_000,
  gapMs: 120_000,
  fillMs: 30_000,
  identifyMs: 5_250,
  againMs: 1_000,
};

const MOST_BATCH = 64;
const MOST_WAITING = 10_000;
const MOST_HELD = 5_000;
const WORDS = new Set(['MESSAGE_CREATE', 'MESSAGE_UPDATE']);

export interface GatewayOptions {
  readonly url: string;
  readonly bot: string | undefined;
  readonly shard: ShardOf;
  readonly position: Position;
  readonly timing: GatewayTiming;
  /** The account's cursor, including the position after a batch of this connection. */
  cursor(behind: Behind): string;
  /** Called on READY or RESUMED. Resolves when newer messages may be stored. */
  up(): Promise<void>;
}

export class Gateway {
  readonly ended: Promise<ShardEnd>;
  readonly #link: Link<Account>;
  readonly #options: GatewayOptions;
  readonly #shard: Shard;
  #waiting: Told[] = [];
  #storing: Promise<void> | undefined;
  #hold: Promise<void> | undefined;
  #isGone = false;
  #storedText: string | undefined;
  #storedAt = 0;

  constructor(link: Link<Account>, options: GatewayOptions) {
    this.#link = link;
    this.#options = options;
    const { url, shard, position, timing } = options;
    this.#shard = new Shard({
      url,
      token: link.account.token.reveal(),
      intents: intentBits(link.account),
      shard,
      position,
      identifies: identifiesOf(link.account),
      readyMs: timing.readyMs,
      identifyMs: timing.identifyMs,
      dispatched: (dispatch) => this.#dispatched(dispatch),
      up: () => this.#up(),
    });
    this.ended = this.#shard.ended;
    void this.ended.then(() => {
      this.#isGone = true;
    });
  }

  open(): Promise<void> {
    return this.#shard.open();
  }

  /** Stores queued dispatches first, unless the inbox refuses them. */
  async close(): Promise<void> {
    await this.#shard.close();
    await this.#storing;
  }

  #up(): void {
    const late = new Promise<void>((resolve) => setTimeout(resolve, this.#options.timing.gapMs).unref());
    const hold = Promise.race([this.#options.up(), late]).finally(() => {
      if (this.#hold === hold) this.#goOn();
    });
    this.#hold = hold;
  }

  #goOn(): void {
    this.#hold = undefined;
    this.#begin();
  }

  #dispatched({ t, s, d }: Dispatched): void {
    const { account } = this.#link;
    const { position } = this.#options;
    const told: Told = { type: t, data: asObject(d), session: position.session?.id ?? '', seq: s };
    const guild = textAt(told.data, 'guild_id') ?? textAt(told.data, 'id');
    if (/^GUILD_(?:ROLE_|UPDATE|DELETE)/.test(t) && guild !== undefined) guildAdminsOf(account).forget(guild);
    if (t === 'INTERACTION_CREATE') void this.#interaction(told);
    this.#waiting.push(told);
    if (this.#waiting.length > MOST_WAITING)
      void this.#shard.close({ kind: 'lost', reason: `${MOST_WAITING} events wait to be stored` });
    if (this.#waiting.length > MOST_HELD)
      this.#goOn(); // a full queue would end the connection, and the fetch with it
    else this.#begin();
  }

  /** Stores an interaction before it is answered. Discord waits three seconds for the answer. */
  async #interaction(told: Told): Promise<void> {
    const { data } = told;
    if (!(await this.#kept(() => this.#link.receive(arrivalsOf(told, this.#context()))))) return;
    const [id, token] = [textAt(data, 'id'), textAt(data, 'token')];
    if (id === undefined || token === undefined) return;
    const isHeard = this.#answer(`/interactions/${id}/${token}/callback`, data);
    const deferred = deferredOf(data);
    if (deferred === undefined) return;
    const waiting = deferredOfAccount(this.#link.account);
    let isNew = false;
    const heard = isHeard.then((so) => {
      if (isNew && !so) waiting.end(token);
    });
    isNew = waiting.add({ told: heard, ...deferred });
  }

  /** True if Discord accepted the answer. Never throws. */
  async #answer(path: `/${string}`, interaction: Json): Promise<boolean> {
    try {
      const body = answerTo(interaction);
      const { kind } = await call(this.#link, { method: 'POST', path, body, anonymous: true });
      // A replayed interaction was answered before or has expired, so this is expected.
      if (kind !== 'ok') this.#link.log.debug({ answer: kind }, 'an interaction was not answered');
      return kind === 'ok';
    } catch (error) {
      this.#link.log.warn({ err: error }, 'an interaction was not answered');
      return false;
    }
  }

  #begin(): void {
    if (this.#hold === undefined && !this.#isGone) this.#storing ??= this.#store();
  }

  /** Stores queued dispatches in batches, in order of arrival. */
  async #store(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // dispatches of one packet form one batch
    while (this.#waiting.length > 0 && this.#hold === undefined) {
      const batch = this.#waiting.slice(0, MOST_BATCH);
      if (!(await this.#storeBatch(batch))) break;
      this.#waiting = this.#waiting.slice(batch.length);
    }
    this.#storing = undefined;
  }

  async #storeBatch(batch: readonly Told[]): Promise<boolean> {
    const { position } = this.#options;
    for (const { type, data } of batch) if (type === 'MESSAGE_CREATE') this.#meet(data);
    await this.#prepareAdmins(batch);
    const context = this.#context();
    const arrivals = batch.flatMap((told) => arrivalsOf(told, context));
    const last = batch.at(-1);
    if (last === undefined) return true;
    const messages = batch.flatMap(({ type, data }) => (type === 'MESSAGE_CREATE' ? (textAt(data, 'id') ?? []) : []));
    const seen = messages.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).at(-1);
    const isStored = arrivals.length === 0 || (await this.#kept(() => this.#receive(arrivals, { ...last, seen })));
    if (!isStored) return false;
    position.stored(last.session, last.seq);
    if (seen !== undefined) position.saw(seen);
    if (arrivals.length > 0) return true;
    return this.#isPositionDue() ? this.#kept(() => this.#receive([], {})) : true;
  }

  #receive(arrivals: readonly Arrival[], behind: Behind): Promise<void> {
    const text = this.#options.cursor(behind);
    return this.#link.receive(arrivals, text).then(() => {
      this.#storedText = text;
      this.#storedAt = performance.now();
    });
  }

  /** True at once for a new session, later after `positionMs`. */
  #isPositionDue(): boolean {
    const { position, timing } = this.#options;
    const isNew =
      this.#storedText === undefined || !this.#storedText.includes(JSON.stringify(position.session?.id ?? ''));
    return isNew || performance.now() - this.#storedAt >= timing.positionMs;
  }

  async #kept(store: () => Promise<void>): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      try {
        await store();
        return true;
      } catch (error) {
        if (tries === 1) this.#link.log.warn({ err: error }, 'events wait: they could not be stored');
        if (this.#isGone || this.#link.signal.aborted) return false;
        await new Promise((resolve) => setTimeout(resolve, this.#options.timing.retryMs));
      }
    }
  }

  /** Remembers the other person of a private channel. Later events do not name that person. */
  #meet(message: Json): void {
    const [channel, author] = [textAt(message, 'channel_id'), textAt(asObject(message['author']), 'id')];
    const isPrivate = !('guild_id' in message) && channel !== undefined && author !== undefined;
    if (isPrivate && author !== this.#options.bot) this.#options.position.met(channel, author);
  }

  async #prepareAdmins(batch: readonly Told[]): Promise<void> {
    const guilds = batch.flatMap(({ type, data }) => (WORDS.has(type) ? (textAt(data, 'guild_id') ?? []) : []));
    await prepareGuilds(this.#link, guilds);
  }

  #context(): Context {
    return contextOf(this.#link.account, this.#options);
  }
}

export function contextOf(account: Account, { bot, position }: Pick<GatewayOptions, 'bot' | 'position'>): Context {
  const admins = guildAdminsOf(account);
  return {
    application: account.applicationId,
    bot,
    now: Date.now(),
    events: account.events,
    bots: account.bots,
    isAdmin: (guild, user, roles) => admins.isAdmin(guild, user, roles),
    roleIn: (guild) => (bot === undefined ? undefined : admins.roleOf(guild, bot)),
    personIn: (channel) => position.personIn(channel),
  };
}
