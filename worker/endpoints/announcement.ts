// Announces the host's commands to the platform of one account: after each change, and every 30 s while the platform does not accept them.
// A call during that wait replaces the timer, so there is only one.

import { wellFormed } from '../../shared/log/well-formed.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { type Core, reasonOf } from '../core/core.ts';
import { errorCode } from '../sdk/errors.ts';
import type { CommandInfo } from '../sdk/index.ts';

const RETRY_MS = 30_000;

/** The target of an announcement, valid while its connection stands. */
export interface Listening {
  readonly endpoint: string;
  readonly commands: () => readonly CommandInfo[];
  readonly announce: (commands: readonly CommandInfo[]) => Promise<void>;
  readonly signal: AbortSignal;
  /** The platform refuses the account, so the announcement is not retried. */
  readonly refused: (error: unknown) => void;
}

export class Announcement {
  readonly #core: Core;
  /** The commands that the platform knows or is being told, across all connections of the account. */
  #told: string | undefined;
  #again: Timer | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Never rejects. */
  async tell(listening: Listening): Promise<void> {
    this.#again?.cancel();
    const commands = wellFormed(listening.commands());
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
