// Logs patterns that took too long for a text, at most one line a minute for each pattern. Repeated texts cannot flood the log.
import { Seldom } from '../../../shared/log/seldom.ts';
import type { Core } from '../../core/core.ts';
import { LIMIT_MS, onOverlong } from '../../sdk/schema/limited-match.ts';
import type { ListenerCapability } from './capabilities.ts';

export class OverlongLog {
  readonly #core: Pick<Core, 'log'>;
  readonly #seldom: Seldom;
  readonly #count: (slot: string) => void;
  /** Stops listening for slow schema patterns. */
  readonly close: () => void;

  constructor({ clock, log }: Pick<Core, 'clock' | 'log'>, count: (slot: string) => void) {
    this.#core = { log };
    this.#count = count;
    this.#seldom = new Seldom(() => clock.now());
    this.close = onOverlong((pattern) => this.#schema(pattern));
  }

  listener({ id, slot, spec }: ListenerCapability): void {
    this.#count(slot);
    const unsaid = this.#seldom.unsaid(`listener ${id}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { plugin: `root/${slot}`, capability: id, pattern: String(spec.text), limitMs: LIMIT_MS, unsaid },
      'the pattern of a listener took too long for a text: the listener has lost that item, svc inbox list --state dead (said once a minute)',
    );
  }

  #schema(pattern: RegExp): void {
    const unsaid = this.#seldom.unsaid(`schema ${String(pattern)}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { pattern: String(pattern), limitMs: LIMIT_MS, unsaid },
      'the pattern of a schema took too long for a text: the text was refused (said once a minute)',
    );
  }
}
