// Follows /api/events with fetch, because EventSource cannot send a token. One connection at a time, resumed at the last event.
//
//   CONSOLE-STREAM-1  The token is read at each attempt. 401 and 403 end the stream, and the page signs out.
//   CONSOLE-STREAM-2  After a loss it reconnects with backoff: from the server's `retry`, doubled up to 15 s, with jitter.
//                     A connection of at least five seconds resets the backoff. `wake` reconnects at once.
//   CONSOLE-STREAM-3  No byte for two heartbeats is a loss. Last-Event-ID prevents missed and duplicate events.
import { type Frame, SseParser } from './sse-parser.ts';

export type StreamState = 'connecting' | 'live' | 'lost';

export interface StreamOptions {
  readonly url: URL;
  /** Events after this position are wanted. */
  readonly from: string | undefined;
  token(): string;
  onFrame(frame: Frame): void;
  onState(state: StreamState): void;
  onRefused(status: number): void;
  /** Returns 0 to 1. Default Math.random. */
  readonly random?: () => number;
}

export interface EventStream {
  /** Ends a wait, for example when the network is back or the page becomes visible. */
  wake(): void;
  close(): void;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
const STOOD_MS = 5_000;
const HEARTBEAT_MS = 15_000;

/** Starts at once and continues until `close` or a refusal. */
export function followEvents(options: StreamOptions): EventStream {
  const follower = new NextInLane(options);
  void follower.run();
  return follower;
}

class NextInLane implements EventStream {
  readonly #options: StreamOptions;
  readonly #closing = new AbortController();
  #lastEventId: string | undefined;
  #firstWaitMs = FIRST_WAIT_MS;
  #heartbeatMs = HEARTBEAT_MS;
  #losses = 0;
  #wake: () => void = () => {};

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#lastEventId = options.from;
  }

  wake(): void {
    this.#wake();
  }

  close(): void {
    this.#closing.abort();
    this.#wake();
  }

  async run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#options.onState(this.#losses === 0 ? 'connecting' : 'lost');
      const startedAt = performance.now();
      const outcome = await this.#connectOnce();
      if (outcome.kind === 'refused')
        return this.#closing.signal.aborted ? undefined : this.#options.onRefused(outcome.status);
      this.#losses = performance.now() - startedAt >= STOOD_MS ? 1 : this.#losses + 1;
      if (this.#closing.signal.aborted) return;
      this.#options.onState('lost');
      await this.#wait(outcome.retryAfterMs ?? this.#backoffMs());
    }
  }

  async #connectOnce(): Promise<
    { readonly kind: 'lost'; readonly retryAfterMs?: number } | { readonly kind: 'refused'; readonly status: number }
  > {
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    this.#closing.signal.addEventListener('abort', abort, { once: true });
    const watchdog = new Watchdog(abort);
    try {
      watchdog.reset(2 * this.#heartbeatMs);
      const response = await fetch(this.#options.url, {
        headers: this.#headers(),
        signal: attempt.signal,
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
      });
      if (response.status === 401 || response.status === 403) return { kind: 'refused', status: response.status };
      if (!response.ok || response.body === null) return { kind: 'lost', ...retryAfter(response) };
      await this.#read(response.body, watchdog);
      return { kind: 'lost' };
    } catch {
      return { kind: 'lost' };
    } finally {
      watchdog.stop();
      this.#closing.signal.removeEventListener('abort', abort);
      abort();
    }
  }

  async #read(body: ReadableStream<Uint8Array>, watchdog: Watchdog): Promise<void> {
    const parser = new SseParser();
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#closing.signal.aborted) return;
      const { frames, retryMs } = parser.push(decoder.decode(value, { stream: true }));
      if (retryMs !== undefined) this.#firstWaitMs = Math.min(Math.max(retryMs, 50), MAX_WAIT_MS);
      for (const frame of frames) this.#take(frame);
      watchdog.reset(2 * this.#heartbeatMs);
    }
  }

  #take(frame: Frame): void {
    if (frame.id !== undefined) this.#lastEventId = frame.id;
    if (frame.event === 'svc.hello') {
      this.#heartbeatMs = heartbeatOf(frame.data) ?? this.#heartbeatMs;
      this.#options.onState('live');
    }
    this.#options.onFrame(frame);
  }

  #headers(): Record<string, string> {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${this.#options.token()}` };
    return this.#lastEventId === undefined ? headers : { ...headers, 'last-event-id': this.#lastEventId };
  }

  #backoffMs(): number {
    const most = Math.min(MAX_WAIT_MS, this.#firstWaitMs * 2 ** Math.min(this.#losses - 1, 10));
    return most / 2 + (most / 2) * (this.#options.random ?? Math.random)();
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Calls `bark` unless it is reset in time. */
class Watchdog {
  readonly #bark: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(bark: () => void) {
    this.#bark = bark;
  }
  reset(limitMs: number): void {
    this.stop();
    this.#timer = setTimeout(this.#bark, limitMs);
  }
  stop(): void {
    clearTimeout(this.#timer);
  }
}

function retryAfter(response: Response): { readonly retryAfterMs?: number } {
  const header = response.headers.get('retry-after');
  return header !== null && /^\d{1,4}$/.test(header)
    ? { retryAfterMs: Math.min(Number(header) * 1_000, MAX_WAIT_MS) }
    : {};
}

function heartbeatOf(hello: string): number | undefined {
  try {
    const { heartbeatMs } = JSON.parse(hello) as { readonly heartbeatMs?: unknown };
    return typeof heartbeatMs === 'number' && heartbeatMs >= 100 && heartbeatMs <= 300_000 ? heartbeatMs : undefined;
  } catch {
    return undefined;
  }
}
