// What the log says of deliveries that are refused. Anybody may send them, as many as they like: one line for an account and a minute tells of the
// first, and of how many came behind the last line. The metrics count each.
import type { Core } from '../core.ts';

const EVERY_MS = 60_000;
const MOST_REASON = 200;

interface Told {
  readonly at: number;
  /** Refused since, without a line. */
  more: number;
}

export class RefusalLog {
  readonly #core: Pick<Core, 'clock' | 'log'>;
  /** By account or webhook of a plugin: there are as many as the configuration names. */
  readonly #told = new Map<string, Told>();

  constructor(core: Pick<Core, 'clock' | 'log'>) {
    this.#core = core;
  }

  /** The reason is an adapter's or a plugin's, which may have been written without types. */
  refused(endpoint: string, reason: unknown): void {
    const now = this.#core.clock.now();
    const told = this.#told.get(endpoint);
    // A clock that was set back does not silence it.
    if (told !== undefined && now >= told.at && now - told.at < EVERY_MS) {
      told.more += 1;
      return;
    }
    this.#told.set(endpoint, { at: now, more: 0 });
    this.#core.log.warn(
      { endpoint, reason: String(reason ?? '').slice(0, MOST_REASON), unsaid: told?.more ?? 0 },
      'a delivery was refused: its signature does not fit (said once a minute)',
    );
  }
}
