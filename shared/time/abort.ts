// Waiting with an AbortSignal: delay, and race with a deadline.
import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from './clock.ts';

/** A controller whose signal has many listeners for the life of the process. Turns off Node's warning about their number. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

type Listener = EventListenerOrEventListenerObject;

/** A signal that aborts with `source`, for plugin code. Errors of its listeners go to `failed`; Node would treat them as uncaught. */
export function guardedSignal(source: AbortSignal, failed: (error: unknown) => void): AbortSignal {
  const controller = sharedAbort();
  const { signal } = controller;
  const guards = new WeakMap<Listener, (event: Event) => void>();
  const guardOf = (listener: Listener): ((event: Event) => void) => {
    const guard =
      guards.get(listener) ??
      ((event: Event): void => {
        try {
          const done: unknown =
            typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event);
          if (done instanceof Promise) done.catch(failed);
        } catch (error) {
          failed(error);
        }
      });
    guards.set(listener, guard);
    return guard;
  };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  let onabort: Listener | null = null;
  Object.defineProperties(signal, {
    addEventListener: {
      value: (type: string, listener: Listener | null, options?: AddEventListenerOptions) =>
        listener === null ? undefined : add(type, guardOf(listener), options),
    },
    removeEventListener: {
      value: (type: string, listener: Listener | null, options?: EventListenerOptions) =>
        listener === null ? undefined : remove(type, guardOf(listener), options),
    },
    onabort: {
      get: () => onabort,
      set(listener: Listener | null) {
        if (onabort !== null) remove('abort', guardOf(onabort));
        onabort = listener;
        if (listener !== null) add('abort', guardOf(listener));
      },
    },
  });
  const abort = (): void => controller.abort(source.reason);
  if (source.aborted) abort();
  else source.addEventListener('abort', abort, { once: true });
  return signal;
}

/** Resolves after `delayMs`. Rejects with the signal's reason if it aborts first. */
export function delay(delayMs: number, signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(reasonOf(signal));
    const onAbort = (): void => {
      timer.cancel();
      reject(reasonOf(signal));
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export interface Limit<L> {
  readonly ms: number;
  /** The result if time runs out. */
  readonly late: L;
  readonly clock?: Clock;
}

/** Returns the result of `work`, or `late` if it has not settled in time. A later rejection is ignored. */
export async function within<T, L>(work: Promise<T>, { ms, late, clock = systemClock }: Limit<L>): Promise<T | L> {
  let timer: { cancel(): void } | undefined;
  const limit = new Promise<L>((resolve) => {
    timer = clock.after(ms, () => resolve(late), { background: false });
  });
  work.catch(() => {}); // a rejection after the limit has no listener
  try {
    return await Promise.race([work, limit]);
  } finally {
    timer?.cancel();
  }
}

const reasonOf = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error('aborted');
