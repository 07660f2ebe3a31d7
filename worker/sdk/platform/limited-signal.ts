// The signal of one call to a platform: it ends with the life of the account, and after its time.
//
//   L1  Nothing of a call stays with the life once its time is over. `AbortSignal.any` on Node 20 keeps a reference for each call with its
//       sources for as long as those live: some 64 bytes a call, of an account that lives for months.
//   L2  It holds no process up.

/** By the life that they follow; each ends one call. */
const followed = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

/** For a call whose answer is read elsewhere, as a file is. `call`: the call's own signal, where somebody else has made one. */
export function limitedSignal(life: AbortSignal, ms: number, call?: AbortSignal | null): AbortSignal {
  const { signal, end } = limit(life, ms);
  call?.addEventListener('abort', () => end(call.reason), { once: true });
  if (call?.aborted === true) end(call.reason);
  return signal;
}

/** For a call that is over once `run` is: its timer goes with it. */
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
