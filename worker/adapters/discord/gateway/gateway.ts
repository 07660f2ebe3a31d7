// From dispatches to the inbox, and how far they are stored.
//
//   K1  Dispatches are stored in the order in which they came, in batches, each with the position behind it. What cannot be stored is tried again;
//       what was not stored when the process ends is replayed to the next one.
//   K2  An interaction is stored at once, then answered: Discord waits three seconds. It is in its batch, too, and taken once.
//   K3  After a gap, what was missed is fetched before newer messages are stored (catch-up.ts), so that they stay in order: for `gapMs` at most, and
//       while no more than MOST_HELD wait. Else the connection would be ended, and with it the fetching, each time anew.
//   K4  Over MOST_WAITING the connection is ended: it is resumed behind what is stored, and what waited comes again.

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
  /** Before storing again what could not be stored. */
  readonly retryMs: number;
  /** How often the position is stored over dispatches of which nothing arrives. */
  readonly positionMs: number;
  /** Longest wait for what is fetched after a gap. */
  readonly gapMs: number;
  /** Before what could not be fetched is asked for again. */
  readonly fillMs: number;
  /** Between the beginnings of two sessions; Discord says 5 seconds. */
  readonly identifyMs: number;
  /** Before one of several connections is opened again for the first time. */
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
  /** The cursor of the account, with what a batch of this connection brings. */
  cursor(behind: Behind): string;
  /** READY or RESUMED; resolves when newer messages may be stored. */
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

  /** What has come is stored first, unless it cannot be. */
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
      this.#goOn(); // K3
    else this.#begin();
  }

  /** K2. */
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

  /** True when Discord took it. Never throws. */
  async #answer(path: `/${string}`, interaction: Json): Promise<boolean> {
    try {
      const body = answerTo(interaction);
      const { kind } = await call(this.#link, { method: 'POST', path, body, anonymous: true });
      // One that is replayed was answered, or is too old: that is known.
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

  /** K1. */
  async #store(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // dispatches that came in one packet go into one batch
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

  /** The first of a session at once. */
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

  /** Who is at the other end of a private channel is not told later. */
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
