// The signal of one call to a platform: it ends with the life of the account, and after its time.
//
//   L1  Nothing of a call stays with the life once its time is over. `AbortSignal.any` on Node 20 keeps a reference for each call with its
//       sources for as long as those live: some 64 bytes a call, of an account that lives for months.
//   L2  It holds no process up.

/** By the life that they follow; each ends one call. */
const followed = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

/** `call`: the call's own signal, where somebody else has made one. */
export function limitedSignal(life: AbortSignal, ms: number, call?: AbortSignal | null): AbortSignal {
  const controller = new AbortController();
  const calls = callsOf(life);
  const end = (reason: unknown): void => {
    clearTimeout(timer);
    calls.delete(end);
    controller.abort(reason);
  };
  const timer = setTimeout(() => end(new DOMException(`no end after ${ms} ms`, 'TimeoutError')), ms);
  timer.unref();
  calls.add(end);
  call?.addEventListener('abort', () => end(call.reason), { once: true });
  if (life.aborted) end(life.reason);
  else if (call?.aborted === true) end(call.reason);
  return controller.signal;
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
