// The wait between two checks of an account on its platform. A change of the account ends the wait. Otherwise the account would be reported as
// wrong until the next check, although the remedy was just applied.

interface Looking {
  end: (() => void) | undefined;
  /** The account changed during a check, which may have seen the old state. */
  isDue: boolean;
}
const looking = new WeakMap<object, Looking>();

/** Ends the wait of `nextLook`. During a check, the next wait is skipped. Does nothing if no check of the account was ever started. */
export function lookNow(account: object): void {
  const known = looking.get(account);
  if (known?.end === undefined) return void (known && (known.isDue = true));
  known.end();
}

/** Resolves after `ms`, at `lookNow`, or when the signal aborts. The timer does not keep the process alive. */
export async function nextLook(account: object, ms: number, signal: AbortSignal): Promise<void> {
  const known = looking.get(account) ?? { end: undefined, isDue: false };
  looking.set(account, known);
  if (!known.isDue && !signal.aborted)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      known.end = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', known.end, { once: true });
    });
  if (known.end !== undefined) signal.removeEventListener('abort', known.end);
  Object.assign(known, { end: undefined, isDue: false });
}
