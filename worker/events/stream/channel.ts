// A channel: encoded batches of frames, shared by clients with the same scope, wire format and filter.
//
// A batch covers a range of the log and contains the frames that pass the filter. For SSE they are joined in one buffer. Most live clients
// have the same cursor, so one batch serves all of them.
import type { EventFilter } from '../filter.ts';
import type { LoggedEvent } from '../log-window.ts';
import type { FrameSource, StreamScope, Wire } from './frame.ts';

export interface Batch {
  /** The cursor after this batch. */
  readonly to: number;
  /** Seq of its last frame; the cursor before the batch if no frame passed. */
  readonly lastSent: number;
  readonly count: number;
  /** For SSE one buffer of HTTP chunks, for WebSocket one buffer a message. */
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
  /** Number of clients. The hub drops a channel without clients. */
  clients = 0;

  constructor(shape: ChannelShape, source: FrameSource, batchBytes: number) {
    this.key = shape.key;
    this.wire = shape.wire;
    this.scope = shape.scope;
    this.#filter = shape.filter;
    this.#source = source;
    this.#batchBytes = batchBytes;
  }

  /** The batch after `cursor`, built from the events up to `covers`. `events` is called only if the batch is not cached. */
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
