// One WebSocket of Slack's Socket Mode, from its hello to its end.
//
//   SLACK-SOCKET-1  An envelope is acknowledged only once its arrivals are stored. A failed store is retried while the socket is open.
//                   After that Slack delivers an unacknowledged event again.
//   SLACK-SOCKET-2  Envelopes are stored in the order of receipt, in batches. Above MAX_WAITING the socket is not read (backpressure).
//   SLACK-SOCKET-3  A socket without any frame for `silentMs`, not even a pong, is lost.
//   SLACK-SOCKET-4  An envelope for a disconnected account of the app is held unacknowledged until that account connects.
//                   An envelope for no account of this host is acknowledged, counted and dropped.
import { WebSocket } from 'ws';
import type { Arrival, Link } from '../../../sdk/index.ts';
import { isObject, type Json, textAt } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';
import { withAdmins } from '../admins.ts';
import type { Account } from '../config.ts';
import { arrivalsOf } from '../parse.ts';
import { type AwayTimes, onJoined, whoseIs } from './siblings.ts';

export interface SocketTiming extends AwayTimes {
  /** Time from the opening of the socket to Slack's hello. */
  readonly helloMs: number;
  readonly pingMs: number;
  readonly silentMs: number;
  /** Delay before a failed store is retried. */
  readonly retryMs: number;
}
export const TIMING: SocketTiming = {
  helloMs: 30_000,
  pingMs: 10_000,
  silentMs: 35_000,
  retryMs: 1_000,
  /** Exceeds the host's longest backoff and the time for which Slack repeats an event. */
  awayMs: 600_000,
  /** Time for an operator to react. Slack may turn off an app whose envelopes stay unacknowledged for longer. */
  refusedMs: 86_400_000,
};

const MAX_BATCH = 64;
const MAX_WAITING = 1_000;
/** Above this number the oldest held envelopes are dropped; Slack delivers them again. */
const MAX_HELD = 1_000;
const MAX_FRAME_BYTES = 16 * 1_048_576;

interface Envelope {
  readonly id: string;
  readonly frame: Json;
}
interface Waiting extends Envelope {
  readonly arrivals: readonly Arrival[];
  /** The account that receives the arrivals. */
  readonly link: Link<Account>;
}

export class SlackSocket {
  /** Resolves at Slack's hello. Rejects if the socket ends before. */
  readonly ready: Promise<void>;
  /** Resolves to Slack's reason when Slack asks for a new socket. */
  readonly leaving: Promise<string>;
  /** Resolves to the reason when the socket is closed. */
  readonly ended: Promise<string>;
  readonly #socket: WebSocket;
  readonly #link: Link<Account>;
  readonly #timing: SocketTiming;
  #hello: () => void = () => {};
  #leave: (reason: string) => void = () => {};
  #waiting: Waiting[] = [];
  /** Envelopes for accounts of the app that are not connected. */
  #held: Envelope[] = [];
  #strangers = 0;
  #storing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heardAt = 0;
  #isGone = false;

  constructor(url: string, link: Link<Account>, timing: SocketTiming) {
    this.#link = link;
    this.#timing = timing;
    const socket = new WebSocket(url, { handshakeTimeout: timing.helloMs, maxPayload: MAX_FRAME_BYTES });
    this.#socket = socket;
    this.leaving = new Promise((resolve) => {
      this.#leave = resolve;
    });
    const forget = onJoined(link, () => this.#handOver());
    this.ended = new Promise((resolve) => {
      let reason = 'the connection was lost';
      socket.on('error', (error) => {
        reason = `the connection was lost: ${error.message}`;
      });
      socket.on('close', (code) => {
        this.#isGone = true;
        forget();
        clearInterval(this.#timer);
        resolve(code === 1006 ? reason : `Slack closed the connection (${code})`);
      });
    });
    this.ready = new Promise((resolve, reject) => {
      this.#hello = resolve;
      void this.ended.then((reason) => reject(new Error(reason)));
    });
    this.ready.catch(() => {}); // a caller that does not await `ready` awaits `ended`
    for (const sign of ['ping', 'pong'] as const) socket.on(sign, () => this.#heard());
    socket.on('message', (data) => this.#onFrame(String(data)));
    this.#timer = setTimeout(() => socket.terminate(), timing.helloMs);
    void this.ready.then(() => this.#watch()).catch(() => {});
  }

  /** Acknowledges the stored envelopes, then closes. Resolves when the socket is closed. */
  async close(): Promise<void> {
    await this.#storing;
    this.#socket.close(1000);
    const late = setTimeout(() => this.#socket.terminate(), 2_000);
    await this.ended;
    clearTimeout(late);
  }

  get #isOver(): boolean {
    return this.#isGone || this.#link.signal.aborted;
  }

  #heard(): void {
    this.#heardAt = performance.now();
  }

  /** Pings Slack and ends a silent socket. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#isGone) return;
    this.#timer = setInterval(() => {
      if (performance.now() - this.#heardAt >= this.#timing.silentMs) this.#socket.terminate();
      else if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
    }, this.#timing.pingMs);
  }

  #onFrame(text: string): void {
    this.#heard();
    const frame = safeJson(text);
    if (!isObject(frame)) return this.#link.log.warn({ bytes: text.length }, 'Slack sent a frame that is not JSON');
    const id = textAt(frame, 'envelope_id');
    if (frame['type'] === 'hello') return this.#hello();
    if (frame['type'] === 'disconnect') return this.#leave(textAt(frame, 'reason') ?? 'refresh_requested');
    if (id !== undefined) this.#take({ id, frame });
  }

  #take(envelope: Envelope): void {
    const { id, frame } = envelope;
    const whose = whoseIs(frame['payload'], this.#link, this.#timing);
    if (whose === 'away') return this.#hold(envelope);
    const link = whose === 'nobody' ? this.#link : whose;
    const arrivals = this.#arrivalsOf(id, frame, link);
    if (whose === 'nobody' && arrivals.length === 0) this.#countStranger();
    this.#waiting.push({ ...envelope, link, arrivals });
    if (this.#waiting.length > MAX_WAITING) this.#socket.pause();
    this.#storing ??= this.#store();
  }

  #hold(envelope: Envelope): void {
    if (this.#held.length === 0)
      this.#link.log.warn('envelopes wait: the account of the app that they are for is not connected');
    this.#held.push(envelope);
    if (this.#held.length > MAX_HELD) this.#held.shift();
  }

  #handOver(): void {
    for (const envelope of this.#held.splice(0)) this.#take(envelope);
  }

  /** Logs the 1st, 10th, 100th and so on. */
  #countStranger(): void {
    this.#strangers += 1;
    if (/^10*$/.test(String(this.#strangers)))
      this.#link.log.warn({ envelopes: this.#strangers }, 'dropped: of a workspace for which no account is configured');
  }

  /** An unreadable envelope is stored unchanged, because Slack does not repeat it once it is acknowledged. */
  #arrivalsOf(id: string, frame: Json, { account }: Link<Account>): readonly Arrival[] {
    const now = Date.now();
    try {
      return arrivalsOf(frame['payload'], account, now);
    } catch (error) {
      this.#link.log.warn({ err: error, envelope: id }, 'Slack sent an envelope that cannot be read');
      const place = {
        conversation: { id: 'slack', kind: 'group' },
        user: { id: 'slack', name: 'slack', admin: false },
      } as const;
      return [{ ...place, id: `envelope/${id}`, sentAt: now, kind: 'other', type: 'unreadable', raw: frame }];
    }
  }

  /** Stores the waiting envelopes in order and acknowledges each batch afterwards. */
  async #store(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // frames of one packet form one batch
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      if (await this.#kept(batch)) for (const { id } of batch) this.#acknowledge(id);
      else if (this.#isOver) break;
      else for (const { id, frame } of batch) this.#take({ id, frame });
      if (this.#waiting.length < MAX_BATCH) this.#socket.resume();
    }
    this.#storing = undefined;
  }

  /** A batch has arrivals of one account only. */
  #nextBatch(): readonly Waiting[] {
    const [first] = this.#waiting;
    const other = this.#waiting.findIndex(({ link }) => link !== first?.link);
    return this.#waiting.splice(0, Math.min(other === -1 ? MAX_BATCH : other, MAX_BATCH));
  }

  async #kept(batch: readonly Waiting[]): Promise<boolean> {
    const heard = batch.flatMap((one) => one.arrivals);
    const link = batch[0]?.link;
    if (heard.length === 0 || link === undefined) return true;
    const arrivals = await withAdmins(link.account, heard);
    for (let tries = 1; ; tries += 1) {
      try {
        await link.receive(arrivals);
        return true;
      } catch (error) {
        if (tries === 1)
          this.#link.log.warn({ arrivals: arrivals.length, err: error }, 'events wait: they could not be stored');
        if (this.#isOver || link.signal.aborted) return false;
        await new Promise((resolve) => setTimeout(resolve, this.#timing.retryMs));
      }
    }
  }

  #acknowledge(id: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ envelope_id: id }));
  }
}
