// One connection of an account over WebSockets: one socket for everything, or one for calls and one for events. Either side may open them.
//
//   ONEBOT11-SESSION-1  Each role has one socket. A newer one replaces the older one, which is closed: an implementation that reconnects has lost the
//                       older one. The connection ends when a current socket closes.
//   ONEBOT11-SESSION-2  The connection ends if no heartbeat arrives for LATE_BEATS intervals. Heartbeats are expected only after the first one.
//   ONEBOT11-SESSION-3  If the bot is offline at the implementation, the connection ends and sends wait. If it is online but not well, the account is
//                       `degraded`.
//   ONEBOT11-SESSION-4  Events of another bot are dropped. That is logged once.
import { randomUUID } from 'node:crypto';
import type { Arrival, Link } from '../../../sdk/index.ts';
import { isObject, type Json, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';
import type { Account } from '../config.ts';
import { EventStore } from '../event-store.ts';
import { idAt, numberAt } from '../message/json.ts';
import { arrivalsOf } from '../parse.ts';
import { Seen } from '../seen.ts';
import type { Timing } from '../timing.ts';
import type { Role } from '../verify.ts';
import { type Answer, refusedToken } from './answer.ts';
import { Calls } from './calls.ts';
import type { Channel } from './channel.ts';

const LATE_BEATS = 3;
/** Same limit as for events over HTTP. */
const MOST_EVENT_LENGTH = 1_048_576;
const SERVICE_RESTART = 1012;

export type SessionLink = Pick<Link<Account>, 'account' | 'cursor' | 'log' | 'receive' | 'online' | 'degraded'>;

export class Session {
  /** Resolves when calls and events both have a socket. */
  readonly ready: Promise<void>;
  /** Rejects with the reason that ended the connection. */
  readonly ended: Promise<never>;
  readonly events: EventStore;
  /** Last seen second of each conversation when the connection began. */
  readonly since: ReadonlyMap<string, number>;
  /** Undefined if the account does not catch up on missed messages. */
  readonly seen: Seen | undefined;
  readonly #link: SessionLink;
  readonly #timing: Timing;
  readonly #calls = new Calls();
  readonly #channels: { api?: Channel; event?: Channel } = {};
  #self: string | undefined;
  #isForeignTold = false;
  #beat: ReturnType<typeof setTimeout> | undefined;
  #beatLimitMs: number | undefined;
  #otherHalf: ReturnType<typeof setTimeout> | undefined;
  #isReady: () => void = () => {};
  #end: (reason: Error) => void = () => {};
  #isOver = false;

  constructor(link: SessionLink, timing: Timing) {
    this.#link = link;
    this.#timing = timing;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
    this.ended = new Promise((_resolve, reject) => {
      this.#end = reject;
    });
    this.ended.catch(() => {}); // prevents an unhandled rejection
    this.seen = link.account.catchUp ? new Seen(link.cursor) : undefined;
    this.since = this.seen?.places() ?? new Map();
    this.events = new EventStore({
      link,
      seen: this.seen,
      retryMs: timing.retryMs,
      lastMs: timing.lastMs,
      pause: () => this.#channels.event?.pause(),
      resume: () => {
        this.#channels.event?.resume();
        this.#awaitBeat();
      },
    });
    if (this.since.size > 0) this.events.hold(); // held until missed messages are fetched
  }

  get self(): string | undefined {
    return this.#self;
  }
  /** Sets the bot's QQ number, once the implementation has told it. */
  known(self: string): void {
    this.#self = self;
  }

  /** Adds a socket for a role, and closes the one it replaces. */
  attach(role: Role, channel: Channel): void {
    if (this.#isOver) return channel.close(SERVICE_RESTART, 'come again');
    const roles = role === 'universal' ? (['api', 'event'] as const) : ([role] as const);
    const former = new Set(roles.map((one) => this.#channels[one]));
    for (const one of roles) this.#channels[one] = channel;
    for (const old of former) {
      if (old === undefined) continue;
      // A socket for everything that was replaced for one role still serves the other.
      if (Object.values(this.#channels).includes(old)) continue;
      this.#link.log.warn({ role }, 'another connection took the place of one that stood');
      old.close(1000, 'another connection took its place');
    }
    void channel.ended.then((reason) => this.#lost(channel, reason));
    channel.onMessage((text) => this.#onFrame(text));
    if (this.events.isPaused) this.#channels.event?.pause();
    const missing = (['api', 'event'] as const).find((one) => this.#channels[one] === undefined);
    clearTimeout(this.#otherHalf);
    if (missing === undefined) return this.#isReady();
    const { otherHalfMs } = this.#timing;
    this.#otherHalf = setTimeout(() => this.fail(new Error(`no connection for ${missing} came`)), otherHalfMs);
  }

  async call(action: string, params: object, limitMs = this.#timing.callMs): Promise<Answer> {
    return this.#calls.make(this.#isOver ? undefined : this.#channels.api, action, { params, limitMs });
  }

  fail(reason: Error): void {
    this.#isOver = true;
    this.#end(reason);
  }

  /** Stores received events and closes the sockets. Resolves when both are done or have timed out. */
  async close(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#beat);
    clearTimeout(this.#otherHalf);
    const channels = new Set(Object.values(this.#channels));
    for (const channel of channels) channel.close(1000);
    await Promise.all([this.events.close(), ...[...channels].map(({ ended }) => ended)]);
  }

  #lost(channel: Channel, reason: string): void {
    this.#calls.lost(channel, reason);
    if (Object.values(this.#channels).includes(channel)) this.fail(new Error(reason));
  }

  #onFrame(text: string): void {
    const frame = safeJson(text);
    if (!isObject(frame)) return this.#link.log.warn({ length: text.length }, 'a frame that is not JSON');
    if (frame['post_type'] !== undefined) {
      // Answers may contain files, events never do.
      if (text.length <= MOST_EVENT_LENGTH) return this.#onEvent(frame);
      return this.#link.log.warn({ length: text.length }, 'an event that is too large is left out');
    }
    if (this.#calls.answer(frame)) return;
    // NapCat accepts the connection first and then reports a wrong token.
    if (frame['retcode'] === 1403 || frame['retcode'] === 1401)
      this.fail(refusedToken(`the connection was answered with ${frame['retcode']}`));
  }

  #onEvent(event: Json): void {
    const bot = idAt(event, 'self_id');
    if (this.#self !== undefined && bot !== undefined && bot !== this.#self) return this.#foreign(bot);
    if (event['post_type'] === 'meta_event') return this.#onMeta(event);
    if (event['notice_type'] === 'bot_offline')
      return this.fail(new Error(`the bot is offline: ${textAt(event, 'message') ?? 'no reason given'}`));
    this.events.add(this.#arrivalsOf(event));
  }

  /** An unreadable event is stored unchanged, because it is not sent again. */
  #arrivalsOf(event: Json): readonly Arrival[] {
    const now = Date.now();
    try {
      return arrivalsOf(event, { self: this.#self ?? this.#link.account.selfId, now });
    } catch (error) {
      this.#link.log.warn({ err: error }, 'an event that cannot be read');
      const place = {
        conversation: { id: 'onebot', kind: 'group' },
        user: { id: 'onebot', name: 'onebot', admin: false },
      } as const;
      return [
        {
          ...place,
          id: `unreadable/${randomUUID()}`,
          sentAt: now,
          kind: 'other',
          type: 'unreadable',
          raw: event,
        },
      ];
    }
  }

  /** Logs once that events of another bot are dropped. */
  #foreign(bot: string): void {
    if (this.#isForeignTold) return;
    this.#isForeignTold = true;
    this.#link.log.warn({ bot, account: this.#self }, 'events of another bot are left out');
  }

  /** Handles a heartbeat: restarts its timeout and reads the bot's status. */
  #onMeta(event: Json): void {
    if (event['meta_event_type'] !== 'heartbeat') return;
    const interval = numberAt(event, 'interval') ?? 0;
    this.#beatLimitMs = interval > 0 ? LATE_BEATS * Math.max(interval, this.#timing.leastBeatMs) : undefined;
    this.#awaitBeat();
    this.status(objectAt(event, 'status'));
  }

  /** Starts the timeout of the next heartbeat. None while the socket is paused, because heartbeats are not read then. */
  #awaitBeat(): void {
    clearTimeout(this.#beat);
    const limitMs = this.#beatLimitMs;
    if (limitMs === undefined || this.#isOver) return;
    this.#beat = setTimeout(() => {
      if (!this.events.isPaused) this.fail(new Error(`no heartbeat for ${limitMs} ms`));
    }, limitMs);
  }

  /** Status from a heartbeat or from `get_status`. Offline ends the connection, not well means `degraded`. */
  status(status: Json): void {
    if (status['online'] === false) return this.fail(new Error('the bot is offline at the implementation'));
    if (this.#self === undefined) return; // the connection is not online yet
    if (status['good'] === false) this.#link.degraded('the implementation says that it is not well (status.good)');
    else this.#link.online();
  }
}
