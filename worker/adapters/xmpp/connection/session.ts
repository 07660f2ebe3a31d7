// One connection to one server, from the socket to its end.
//
//   XMPP-SESSION-1  `run` resolves when the link's signal aborts and throws when the connection is lost.
//                   The account is `online` after the login and each room's answer, and `degraded` while a room is not joined.
//   XMPP-SESSION-2  A broken session is resumed (XEP-0198) if the server still has it, without loss or duplicates.
//                   Otherwise the archives are read from the cursor on.
//   XMPP-SESSION-3  A stanza from the server is acknowledged once its arrivals are stored.
//   XMPP-SESSION-4  Failures of the account itself throw `accountFailed`, which stops the account instead of retrying:
//                   a refused login, another client with the resource, an unknown domain.
import type { Xml, XmlElement, XmppEntity } from '@xmpp/client';
import { accountFailed, type Link } from '../../../sdk/index.ts';
import { ArrivalQueue } from '../archive/arrival-queue.ts';
import { readCursor } from '../archive/cursor.ts';
import { type Account, accountFault, bareJidOf, domainOf } from '../config.ts';
import { Conversations } from '../conversations.ts';
import { connectionError } from '../failures.ts';
import { NS } from '../stanza.ts';
import type { AccountState } from '../state.ts';
import { makeClient, type OpenClient } from './client.ts';

export interface SessionTiming {
  /** Time from opening the socket to the end of the login. */
  readonly loginMs: number;
  /** Time for the answers of all rooms. After it the account is online without the rest. */
  readonly joinMs: number;
  readonly rejoinMs: number;
  /** Time for the server to confirm a sent stanza. */
  readonly confirmMs: number;
  /** Interval of pings to the server and our rooms. */
  readonly pingMs: number;
  /** Time for an answer from the server. A missing answer to a ping ends the connection. */
  readonly answerMs: number;
}
export const TIMING: SessionTiming = {
  loginMs: 30_000,
  joinMs: 15_000,
  rejoinMs: 15_000,
  confirmMs: 40_000,
  pingMs: 120_000,
  answerMs: 20_000,
};

const END_MS = 2_000;

export class Session {
  readonly queue: ArrivalQueue;
  readonly timing: SessionTiming;
  readonly #link: Link<Account>;
  readonly #state: AccountState;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #client: OpenClient | undefined;
  #end: (error?: Error) => void = () => {};
  #hasEnded = false;
  #isOnline = false;

  constructor(link: Link<Account>, state: AccountState, timing: SessionTiming) {
    this.#link = link;
    this.#state = state;
    this.timing = timing;
    this.queue = new ArrivalQueue({
      cursor: readCursor(link.cursor, bareJidOf(link.account)),
      store: (arrivals, cursor) => link.receive(arrivals, cursor),
      pause: () => this.#client?.socket()?.pause(),
      resume: () => this.#client?.socket()?.resume(),
      log: link.log,
    });
  }

  get entity(): XmppEntity | undefined {
    return this.#client?.entity;
  }
  /** Logged in and not ended, and each room has answered or `joinMs` is over. */
  get isOpen(): boolean {
    return this.#isOnline && !this.#hasEnded;
  }
  get xml(): Xml {
    return this.#open.xml;
  }

  /** Runs the session. Resolves when the link's signal aborts and throws when the connection is lost. */
  async run(): Promise<void> {
    const fault = accountFault(this.#link.account);
    if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
    const ended = new Promise<Error | undefined>((resolve) => {
      this.#end = resolve;
    });
    const { signal } = this.#link;
    const stop = (): void => this.#end();
    signal.addEventListener('abort', stop, { once: true });
    void this.#start().catch((error: unknown) => this.#end(connectionError(error)));
    if (signal.aborted) stop();

    const error = await ended;

    this.#hasEnded = true;
    signal.removeEventListener('abort', stop);
    for (const timer of this.#timers) clearTimeout(timer);
    if (signal.aborted) await this.#leavePolitely();
    else await this.#leaveBroken();
    if (error !== undefined && !signal.aborted) throw error;
  }

  request(iq: XmlElement, limitMs = this.timing.answerMs): Promise<XmlElement> {
    return this.#open.entity.iqCaller.request(iq, limitMs);
  }

  /** Resolves when the stanza is written, before the server confirms it. */
  write(stanza: XmlElement): Promise<void> {
    return this.#open.entity.send(stanza);
  }

  after(delayMs: number, run: () => void): void {
    if (this.#hasEnded) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }

  /** Reports why the account works only in part. Undefined once all of it works. */
  trouble(reason: string | undefined): void {
    if (!this.isOpen) return;
    if (reason === undefined) this.#link.online();
    else this.#link.degraded(reason);
  }

  get #open(): OpenClient {
    if (this.#client === undefined) throw new Error('not connected');
    return this.#client;
  }

  async #start(): Promise<void> {
    const { account, log } = this.#link;
    const state = this.#state;
    let isLoggedIn = false;
    let reached = 'there is no connection';
    this.after(this.timing.loginMs, () => {
      if (!isLoggedIn) this.#end(new Error(`not logged in within ${this.timing.loginMs} ms: ${reached}`));
    });
    const client = await makeClient(account, state.attempts++, state.resumable);
    if (this.#hasEnded) return;
    this.#client = client;
    state.session = this;
    const { entity } = client;
    const former = state.conversations;
    state.follow(entity);
    const conversations = new Conversations({ account, state, log });
    const session = this.#session(entity, (how) => {
      isLoggedIn = true;
      state.resumable = undefined;
      if (how === 'new' || former === undefined) state.conversations = conversations;
    });
    await entity.connect('xmpp://server');
    reached = 'connected, and the server begins no stream';
    await entity.open({ domain: domainOf(account) });
    reached = 'the server has begun a stream, and lets nobody in';
    const how = await session;
    const acknowledges = entity.streamManagement.enabled;
    log.info({ jid: String(entity.jid), resumed: how === 'resumed', acknowledges }, 'logged in');
    await (state.conversations ?? conversations).settle(how);
    this.#isOnline = true;
    this.#link.online();
    this.trouble(state.conversations?.trouble);
    this.#watch();
  }

  #session(entity: XmppEntity, begun: (how: 'new' | 'resumed') => void): Promise<'new' | 'resumed'> {
    entity.on('error', (error: unknown) => this.#end(connectionError(error)));
    entity.on('disconnect', () => this.#end(new Error('connection lost')));
    entity.on('close', () => this.#end(new Error('connection lost: the server closed the stream')));
    entity.on('stanza', (stanza: XmlElement) => this.#onStanza(stanza));
    return new Promise((resolve) => {
      const begin = (how: 'new' | 'resumed') => (): void => {
        begun(how);
        resolve(how);
      };
      entity.on('online', begin('new'));
      entity.streamManagement.on('resumed', begin('resumed'));
    });
  }

  /** Queues the stanza's arrivals and acknowledges the stanza once they are stored. */
  #onStanza(stanza: XmlElement): void {
    const { current, handled } = this.#open;
    const number = current();
    const done = (): void => handled(number);
    if (this.#hasEnded) return;
    try {
      const queued = this.#state.conversations?.onStanza(stanza) ?? [];
      if (queued.length === 0) return done();
      for (const [i, one] of queued.entries())
        this.queue.push(i === queued.length - 1 ? { ...one, stored: done } : one);
    } catch (error) {
      this.#link.log.warn({ err: error, name: stanza.name }, 'a stanza that is not understood: left out');
      done();
    }
  }

  #watch(): void {
    this.after(this.timing.pingMs, () => {
      void this.#ping().catch((error: unknown) => this.#end(connectionError(error)));
      this.#state.conversations?.pingRooms();
      this.#watch();
    });
  }

  /** Any answer proves that the server is alive, even an error for an unknown ping. */
  async #ping(): Promise<void> {
    const { xml } = this;
    try {
      await this.request(xml('iq', { type: 'get' }, xml('ping', { xmlns: NS.ping })));
    } catch (error) {
      if ((error as { name?: string }).name !== 'StanzaError')
        throw new Error('the server does not answer', { cause: error });
    }
  }

  async #leavePolitely(): Promise<void> {
    this.#state.pending.end();
    this.#state.resumable = undefined;
    this.#state.conversations = undefined;
    const { entity } = this;
    const stored = this.queue.close();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_MS);
    });
    // The end of the stream follows the store, so the library's last acknowledgement covers all stored stanzas.
    const left = stored.then(() =>
      entity?.socket == null ? undefined : entity.write('</stream:stream>').catch(() => {}),
    );
    await Promise.race([left, late]);
    clearTimeout(timer);
    this.#client?.socket()?.end();
    await stored;
    this.#release();
  }

  async #leaveBroken(): Promise<void> {
    this.#client?.socket()?.destroy();
    await this.queue.close();
    const left = this.#client?.leave();
    if (left !== undefined) this.#state.resumable = left;
    if (this.#state.resumable === undefined) this.#state.pending.end();
    this.#release();
  }

  #release(): void {
    const { entity } = this;
    if (this.#state.session === this && this.#link.signal.aborted) this.#state.session = undefined;
    entity?.emit('disconnect'); // the library ends its timers
    // The library does not end its open requests, whose answers can no longer come.
    for (const { promise, reject } of entity?.iqCaller.handlers.values() ?? []) {
      promise.catch(() => {});
      reject(new Error('the connection ended'));
    }
    entity?.removeAllListeners();
    entity?.on('error', () => {}); // late errors of the library
    this.#client?.socket()?.destroy();
  }
}
