// The signal of one call to a platform. It aborts when the account's signal (`life`) aborts, or after a time limit.
//
//   LIMITED-SIGNAL-1  A finished call leaves no reference on `life`. `AbortSignal.any` on Node 20 does: about 64 bytes for each call, as long as
//                     its sources live. An account lives for months.
//   LIMITED-SIGNAL-2  The timer does not keep the process alive.

/** The abort functions of open calls, by the `life` signal that they follow. */
const followed = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

/** For a call whose response is read elsewhere, such as a file. `call`: an additional signal of the caller. */
export function limitedSignal(life: AbortSignal, ms: number, call?: AbortSignal | null): AbortSignal {
  const { signal, end } = limit(life, ms);
  call?.addEventListener('abort', () => end(call.reason), { once: true });
  if (call?.aborted === true) end(call.reason);
  return signal;
}

/** For a call that ends with `run`. Its timer is then cleared. */
export async function withLimit<T>(
  life: AbortSignal,
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, forget } = limit(life, ms);
  try {
    return await run(signal);
  } finally {
    forget();
  }
}

interface Limit {
  readonly signal: AbortSignal;
  end(reason: unknown): void;
  forget(): void;
}

function limit(life: AbortSignal, ms: number): Limit {
  const controller = new AbortController();
  const calls = callsOf(life);
  const forget = (): void => {
    clearTimeout(timer);
    calls.delete(end);
  };
  const end = (reason: unknown): void => {
    forget();
    controller.abort(reason);
  };
  const timer = setTimeout(() => end(new DOMException(`no end after ${ms} ms`, 'TimeoutError')), ms);
  timer.unref();
  calls.add(end);
  if (life.aborted) end(life.reason);
  return { signal: controller.signal, end, forget };
}

function callsOf(life: AbortSignal): Set<(reason: unknown) => void> {
  let calls = followed.get(life);
  if (calls === undefined) {
    const fresh = new Set<(reason: unknown) => void>();
    life.addEventListener('abort', () => [...fresh].forEach((end) => end(life.reason)), { once: true });
    followed.set(life, fresh);
    calls = fresh;
  }
  return calls;
}
