// The commands of the host, told to the platform of one account: again when they are others, and every so often while it does not take them.
// Whoever asks meanwhile joins that: there is one timer.
import type { Timer } from '../../shared/time/clock.ts';
import { type Core, reasonOf } from '../core/core.ts';
import { errorCode } from '../sdk/errors.ts';
import type { CommandInfo } from '../sdk/index.ts';

const RETRY_MS = 30_000;

/** Where they are told, as long as a connection stands. */
export interface Listening {
  readonly endpoint: string;
  readonly commands: () => readonly CommandInfo[];
  readonly announce: (commands: readonly CommandInfo[]) => Promise<void>;
  readonly signal: AbortSignal;
  /** The platform refuses the account: not told again. */
  readonly refused: (error: unknown) => void;
}

export class Announcement {
  readonly #core: Core;
  /** What the platform knows, or is being told, over all connections of the account. */
  #told: string | undefined;
  #again: Timer | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Never rejects. */
  async tell(listening: Listening): Promise<void> {
    this.#again?.cancel();
    const commands = listening.commands();
    const text = JSON.stringify(commands);
    if (text === this.#told) return;
    this.#told = text;
    try {
      await listening.announce(commands);
    } catch (error) {
      this.#told = undefined;
      const { log, clock } = this.#core;
      const { endpoint, signal, refused } = listening;
      if (signal.aborted) return;
      if (errorCode(error) === 'account_failed') return refused(error);
      log.warn({ endpoint, error: reasonOf(this.#core, error) }, 'commands could not be announced: tried again');
      this.#again?.cancel();
      this.#again = clock.after(RETRY_MS, () => signal.aborted || void this.tell(listening));
    }
  }
}
