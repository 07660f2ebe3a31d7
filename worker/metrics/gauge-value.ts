// What a gauge of a plugin says now. Apart from the registry, which a bot of `svc/testing` has no use for.
import { within } from '../../shared/time/abort.ts';

const READ_LIMIT_MS = 1_000;

/** One that fails, does not answer or gives no number is NaN: the others are shown all the same. */
export async function gaugeValue(read: () => unknown): Promise<number> {
  try {
    const value = await within(Promise.resolve(read()), { ms: READ_LIMIT_MS, late: Number.NaN });
    return typeof value === 'number' ? value : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
