// The wait between two looks at an account on its platform. Who has changed there what is looked at ends it: otherwise the account would be
// called wrong, with a remedy that was just done, until the next look.

interface Looking {
  end: (() => void) | undefined;
  /** Changed while a look was under way, which may have seen what was before. */
  isDue: boolean;
}
const looking = new WeakMap<object, Looking>();

/** Nothing where nobody looks. */
export function lookNow(account: object): void {
  const known = looking.get(account);
  if (known?.end === undefined) return void (known && (known.isDue = true));
  known.end();
}

/** Resolves after the time, at `lookNow`, or when the signal ends it. Holds no process up. */
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
