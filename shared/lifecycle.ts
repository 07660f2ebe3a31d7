// Long-lived parts: started in order, stopped in reverse, each stop bounded; stop is coalesced and idempotent.
import { within } from './abort.ts';

export interface Part {
  readonly name: string;
  /** Resolves when usable. A part that has nothing to start leaves it out. */
  start?(): Promise<void>;
  /** Idempotent; ends what the part holds. */
  stop?(): Promise<void>;
  /** How long its stop may take. Default 2 000. */
  readonly stopLimitMs?: number;
}

export interface StopReport {
  /** Parts whose stop did not end in time or threw, with the reason. */
  readonly cut: readonly { readonly name: string; readonly reason: string }[];
}

export class Lifecycle {
  readonly #started: Part[] = [];
  #stopping: Promise<StopReport> | undefined;

  /** Starts a part; when it fails, what was started before stays for `stop`. */
  async start(part: Part): Promise<void> {
    await part.start?.();
    this.#started.push(part);
  }

  stop(onStep: (name: string) => void = () => {}): Promise<StopReport> {
    this.#stopping ??= this.#stopAll(onStep);
    return this.#stopping;
  }

  async #stopAll(onStep: (name: string) => void): Promise<StopReport> {
    const cut: { name: string; reason: string }[] = [];
    for (const part of this.#started.toReversed()) {
      onStep(part.name);
      const limitMs = part.stopLimitMs ?? 2_000;
      try {
        const end = await within(part.stop?.().then(() => 'stopped' as const) ?? Promise.resolve('stopped' as const), limitMs, 'late' as const);
        if (end === 'late') cut.push({ name: part.name, reason: `did not stop within ${limitMs} ms` });
      } catch (error) {
        cut.push({ name: part.name, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    return { cut };
  }
}
