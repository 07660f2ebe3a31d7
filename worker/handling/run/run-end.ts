// Ends one run: when its generation is retired or at its time limit. Removes its listener from the generation's signal afterwards.
import { guardedSignal, sharedAbort } from '../../../shared/time/abort.ts';
import type { Clock } from '../../../shared/time/clock.ts';
import { coded } from './cause.ts';

export class RunEnd {
  readonly #generation: AbortSignal;
  readonly #failed: (error: unknown) => void;
  readonly #retired = (): void => this.abort(coded('retired', 'the generation was retired before the handler ended'));
  /** Created at first use, because most handlers never need it. */
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #reason: Error | undefined;
  #reject: (reason: Error) => void = () => {};
  /** Rejects when the run is aborted. */
  readonly aborted: Promise<never>;

  /** `failed` gets the exceptions of a plugin's abort listeners. */
  constructor(generation: AbortSignal, failed: (error: unknown) => void) {
    this.#generation = generation;
    this.#failed = failed;
    this.aborted = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.aborted.catch(() => {}); // nobody may be waiting for it any more
    if (generation.aborted) this.#retired();
    else generation.addEventListener('abort', this.#retired);
  }

  get signal(): AbortSignal {
    this.#signal ??= guardedSignal(this.#source(), this.#failed);
    return this.#signal;
  }

  /** A signal that aborts with the run or after `timeoutMs`, unless the timeout is cancelled. */
  within(timeoutMs: number, clock: Clock): { readonly signal: AbortSignal; cancel(): void } {
    const limited = new AbortController();
    const source = this.#source();
    const follow = (): void => limited.abort(source.reason);
    if (source.aborted) follow();
    else source.addEventListener('abort', follow, { once: true });
    const reason = new DOMException(`its ${timeoutMs} ms are over`, 'TimeoutError');
    const timer = clock.after(timeoutMs, () => limited.abort(reason), { background: true });
    const signal = guardedSignal(limited.signal, this.#failed);
    return { signal, cancel: () => timer.cancel() };
  }

  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  close(): void {
    this.#generation.removeEventListener('abort', this.#retired);
  }

  #source(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = sharedAbort();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
}
