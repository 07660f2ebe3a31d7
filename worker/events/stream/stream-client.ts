// A client of the stream: only a cursor into the log. There is no queue; unread events stay in the log.
//
//   STREAM-1  Frames come in this order: hello, gap (if any), replay, live. Every event after the cursor that passes the filter is sent in
//             order, once.
//   STREAM-2  At most `highWaterBytes` and one batch wait in the client's socket. Then the cursor lags until the socket drains. Without a
//             drain for `stallMs` the client is cut, and it may resume by its last id.
//   STREAM-3  If retention passes a lagging cursor, the client gets a gap frame. Events are never skipped silently.

import type { GapNotice, Hello } from '../../../shared/api/event.ts';
import type { Clock, Timer } from '../../../shared/time/clock.ts';
import { formatEventId, type Gap, type HistoryBounds, type Resume, trimmedGap } from '../cursor.ts';
import type { LogWindow } from '../log-window.ts';
import type { Batch, Channel } from './channel.ts';
import { type ControlFrame, controlFrame, heartbeatFrame } from './frame.ts';

export type EndReason = 'drain' | 'revoked' | 'slow' | 'failed' | 'replaced';

/** The connection to the client's socket. */
export interface Transport {
  write(parts: readonly Buffer[]): void;
  /** Bytes accepted by the socket and not yet sent. */
  queuedBytes(): number;
  end(reason: EndReason): void;
}

export interface ClientHost {
  readonly clock: Clock;
  readonly window: LogWindow;
  bounds(): HistoryBounds;
  gap(gap: Gap): void;
  /** Ends the client and removes it from the hub. */
  end(client: StreamClient, reason: EndReason): void;
  readFailed(error: unknown): void;
}

export interface ClientOptions {
  readonly heartbeatMs: number;
  readonly highWaterBytes: number;
  readonly stallMs: number;
  readonly bookmarkEvents: number;
}

const BATCHES_PER_TURN = 8;
/** Addresses where a client reloads its state after a gap. */
const RESYNC_PATHS = ['/api/system/status', '/api/endpoints', '/api/inbox', '/api/outbox'] as const;

export class StreamClient {
  readonly actor: string;
  readonly channel: Channel;
  readonly #host: ClientHost;
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #replayTo: number;
  #cursor: number;
  #idSent: number;
  #state: 'ready' | 'reading' | 'stalled' | 'closed' = 'ready';
  #live = false;
  #began = false;
  #again = false;
  #stall: Timer | undefined;

  constructor(
    host: ClientHost,
    place: {
      readonly channel: Channel;
      readonly transport: Transport;
      readonly actor: string;
      readonly resume: Resume;
    },
    options: ClientOptions,
  ) {
    this.#host = host;
    this.channel = place.channel;
    this.#transport = place.transport;
    this.actor = place.actor;
    this.#options = options;
    this.#cursor = place.resume.from;
    this.#idSent = place.resume.from;
    this.#replayTo = host.bounds().head;
  }

  /** Sends hello and gap, then continues from the cursor. */
  open(resume: Resume, retryMs: number): void {
    const bounds = this.#host.bounds();
    const count = bounds.head - resume.from;
    const hello: Hello = {
      protocol: 'svc-sse/1',
      epoch: bounds.epoch,
      head: bounds.head,
      oldest: bounds.oldest,
      resumed: resume.kind === 'replay',
      replay: resume.kind === 'fresh' || count === 0 ? null : { from: resume.from + 1, to: bounds.head, count },
      heartbeatMs: this.#options.heartbeatMs,
      serverTime: new Date(this.#host.clock.now()).toISOString(),
    };
    this.#control({ event: 'svc.hello', retryMs, data: hello });
    if (resume.kind === 'gap') this.#sendGap(resume.gap, resume.from, bounds);
    this.pump();
  }

  /** Writes what is available, as far as the socket accepts it. Called after every possible change. */
  pump(): void {
    for (let turn = 0; this.#state === 'ready'; turn += 1) {
      if (!this.#live && this.#cursor >= this.#replayTo) this.#becomeLive();
      if (this.#cursor >= this.#host.window.end && this.#cursor >= this.#replayTo) return;
      if (turn === BATCHES_PER_TURN) return this.#pumpLater();
      const reach = this.#host.window.reach(this.#cursor);
      if (reach === undefined)
        void this.#readPage(); // never rejects: a failed read ends the client
      else if (reach === this.#cursor)
        return; // the window has not read that far; its next read pumps again
      else this.#write(this.channel.batch(this.#cursor, reach, () => this.#host.window.recent(this.#cursor)));
    }
  }

  /** The socket has drained. */
  drained(): void {
    if (this.#state !== 'stalled') return;
    this.#stall?.cancel();
    this.#state = 'ready';
    this.pump();
  }

  /** Runs each heartbeat interval. Sends a bookmark if the cursor passed filtered events, otherwise an SSE comment. */
  heartbeat(): void {
    if (this.#state === 'stalled' || this.#state === 'closed') return;
    if (this.#live && this.#cursor !== this.#idSent) this.#bookmark();
    else if (this.channel.wire === 'sse') this.#send([heartbeatFrame]);
  }

  /** Sends a last frame if the socket accepts one, then ends the connection. */
  close(reason: EndReason, drainRetryMs?: number): void {
    if (this.#state === 'closed') return;
    if (drainRetryMs !== undefined && this.#state !== 'stalled') {
      this.#control({ event: 'svc.drain', retryMs: drainRetryMs, data: { retryMs: drainRetryMs } });
    }
    this.#stall?.cancel();
    this.#state = 'closed';
    this.#transport.end(reason);
  }

  /** The client closed the connection. */
  gone(): void {
    this.#stall?.cancel();
    this.#state = 'closed';
  }

  /** Continues in the next turn, so that a long replay does not block the event loop. */
  #pumpLater(): void {
    if (this.#again) return;
    this.#again = true;
    setImmediate(() => {
      this.#again = false;
      this.pump();
    });
  }

  async #readPage(): Promise<void> {
    this.#state = 'reading';
    const cursor = this.#cursor;
    const events = await this.#host.window.page(cursor).catch((error: unknown) => this.#host.readFailed(error));
    if (this.#state !== 'reading') return;
    this.#state = 'ready';
    if (events === undefined) return this.#host.end(this, 'failed');
    const first = events[0]?.row.seq;
    const last = events.at(-1)?.row.seq ?? cursor;
    if (first === cursor + 1) this.#write(this.channel.batch(cursor, last, () => events));
    else this.#passHole(cursor, first);
    this.pump();
  }

  #passHole(cursor: number, first: number | undefined): void {
    const known = this.#host.bounds();
    const bounds = { ...known, oldest: Math.max(known.oldest, first ?? known.head + 1) };
    const { from, gap } = trimmedGap(cursor, bounds, this.#began);
    this.#cursor = from;
    this.#sendGap(gap, from, bounds);
  }

  #write(batch: Batch): void {
    this.#began = true;
    const skipped = batch.to - this.#idSent;
    this.#cursor = batch.to;
    if (batch.count > 0) {
      this.#idSent = batch.lastSent;
      this.#send(batch.parts);
    } else if (skipped >= this.#options.bookmarkEvents) this.#bookmark();
  }

  #becomeLive(): void {
    this.#live = true;
    this.#began = true;
    this.#idSent = this.#cursor;
    this.#control({ event: 'svc.live', id: this.#id(this.#cursor), data: { head: this.#cursor } });
  }

  #bookmark(): void {
    this.#idSent = this.#cursor;
    this.#control({ event: 'svc.bookmark', id: this.#id(this.#cursor), data: { head: this.#host.bounds().head } });
  }

  #sendGap(gap: Gap, from: number, { epoch, oldest, head }: HistoryBounds): void {
    const notice: GapNotice = { ...gap, epoch, oldest, head, resync: [...RESYNC_PATHS] };
    this.#host.gap(gap);
    this.#idSent = from;
    this.#control({ event: 'svc.gap', id: this.#id(from), data: notice });
  }

  #id(seq: number): string {
    return formatEventId(this.#host.bounds().epoch, seq);
  }

  #control(frame: ControlFrame): void {
    this.#send([controlFrame(frame, this.channel.wire)]);
  }

  #send(parts: readonly Buffer[]): void {
    this.#transport.write(parts);
    if (this.#state === 'closed' || this.#transport.queuedBytes() < this.#options.highWaterBytes) return;
    this.#state = 'stalled';
    this.#stall?.cancel();
    this.#stall = this.#host.clock.after(this.#options.stallMs, () => this.#host.end(this, 'slow'));
  }
}
