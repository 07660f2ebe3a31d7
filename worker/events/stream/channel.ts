// What clients with the same scope, wire and filter share: batches of frames that are ready to write.
//
// A batch covers a stretch of the log and holds the frames that pass the filter, joined for SSE to one buffer.
// Most live clients stand at the same place, so one batch is made for all of them.
import type { EventFilter } from '../filter.ts';
import type { LoggedEvent } from '../log-window.ts';
import type { FrameSource, StreamScope, Wire } from './frame.ts';

export interface Batch {
  /** The cursor after it. */
  readonly to: number;
  /** Seq of the last frame in it; the cursor before it when nothing passed. */
  readonly lastSent: number;
  readonly count: number;
  /** SSE: one buffer of chunks; WebSocket: one a message. */
  readonly parts: readonly Buffer[];
}

const BATCHES_KEPT = 16;

export interface ChannelShape {
  readonly key: string;
  readonly wire: Wire;
  readonly scope: StreamScope;
  readonly filter: EventFilter;
}

export class Channel {
  readonly key: string;
  readonly wire: Wire;
  readonly scope: StreamScope;
  readonly #filter: EventFilter;
  readonly #source: FrameSource;
  readonly #batchBytes: number;
  readonly #batches = new Map<number, { readonly batch: Batch; readonly covers: number }>();
  /** Clients on it; the hub drops a channel without any. */
  clients = 0;

  constructor(shape: ChannelShape, source: FrameSource, batchBytes: number) {
    this.key = shape.key;
    this.wire = shape.wire;
    this.scope = shape.scope;
    this.#filter = shape.filter;
    this.#source = source;
    this.#batchBytes = batchBytes;
  }

  /** The batch after `cursor` out of the events up to `covers`, which are asked for only when it is new. */
  batch(cursor: number, covers: number, events: () => readonly LoggedEvent[]): Batch {
    const known = this.#batches.get(cursor);
    if (known !== undefined && (known.covers === covers || known.batch.to < known.covers)) return known.batch;
    const batch = this.#join(cursor, events());
    this.#batches.set(cursor, { batch, covers });
    const oldest = this.#batches.keys().next();
    if (this.#batches.size > BATCHES_KEPT && oldest.done !== true) this.#batches.delete(oldest.value);
    return batch;
  }

  #join(cursor: number, events: readonly LoggedEvent[]): Batch {
    const frames: Buffer[] = [];
    let [to, bytes, lastSent] = [cursor, 0, cursor];
    for (const event of events) {
      to = event.row.seq;
      if (!this.#filter.matches(event.row.type, event.row.endpoint)) continue;
      const frame = event.frame(this.scope, this.wire, this.#source);
      frames.push(frame);
      lastSent = to;
      bytes += frame.length;
      if (bytes >= this.#batchBytes) break;
    }
    const joined = this.wire === 'sse' && frames.length > 1 ? [Buffer.concat(frames, bytes)] : frames;
    return { to, lastSent, count: frames.length, parts: joined };
  }
}
