// Reads the value of a plugin's gauge. Separate from the registry, so that bots of `svc/testing` need not load it.
import { within } from '../../shared/time/abort.ts';

const READ_LIMIT_MS = 1_000;

/** NaN if the gauge throws, does not answer within 1 s, or returns no number. Other gauges are not affected. */
export async function gaugeValue(read: () => unknown): Promise<number> {
  try {
    const value = await within(Promise.resolve(read()), { ms: READ_LIMIT_MS, late: Number.NaN });
    return typeof value === 'number' ? value : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
