// Turns of runs that depend on the same state. Of many runs that have read a cell, one commits and the others run again.
// Without turns, most of them would exhaust their attempts while others overtake them.
//
//   STATE-TURNS-1  A run whose state has changed waits for the runs before it, in order. Then it runs again alone among them.
//   STATE-TURNS-2  While a run waits, a run that has not waited does not overtake it but joins the line.
//   STATE-TURNS-3  A slow run does not block the others: a turn ends after PATIENCE_MS, a wait after LONGEST_WAIT_MS. Correctness rests on the guards
//                  of the transactions; turns only save work.
import { within } from '../../../shared/time/abort.ts';
import type { Clock } from '../../../shared/time/clock.ts';
import { cellKey, type Effect, type Run } from './run.ts';

const PATIENCE_MS = 1_000;
const LONGEST_WAIT_MS = 5_000;

export class StateTurns {
  readonly #clock: Clock;
  /** By state: the end of the last turn in line. */
  readonly #lines = new Map<string, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A turn for one handler and one item. */
  begin(): StateTurn {
    return new StateTurn(this.#clock, this.#lines);
  }
}

export class StateTurn {
  readonly #clock: Clock;
  readonly #lines: Map<string, Promise<void>>;
  #hasWaited = false;
  /** Gives the turn back. */
  end: () => void = () => {};

  constructor(clock: Clock, lines: Map<string, Promise<void>>) {
    this.#clock = clock;
    this.#lines = lines;
  }

  /** False if another run waits for the same state and this one has not waited. */
  mayCommit({ effects }: Run): boolean {
    return this.#hasWaited || this.#lines.size === 0 || !statesOf(effects).some((state) => this.#lines.has(state));
  }

  /** The state of the run has changed. Resolves when it may run again. */
  async take({ effects }: Run): Promise<void> {
    this.end();
    const states = statesOf(effects);
    const before = states.flatMap((state) => this.#lines.get(state) ?? []);
    let giveBack = (): void => {};
    const turn = new Promise<void>((resolve) => {
      giveBack = resolve;
    });
    // Joins all lines at once. A later run is then behind in each, so no two runs wait for each other.
    for (const state of states) this.#lines.set(state, turn);
    const release = (): void => {
      for (const state of states) if (this.#lines.get(state) === turn) this.#lines.delete(state);
      giveBack();
    };
    await within(Promise.all(before), { ms: LONGEST_WAIT_MS, late: undefined, clock: this.#clock });
    this.#hasWaited = true;
    const patience = this.#clock.after(PATIENCE_MS, release);
    this.end = () => {
      patience.cancel();
      release();
    };
  }
}

/** The states that the transaction of these effects guards. */
function statesOf(effects: readonly Effect[]): readonly string[] {
  const states = effects.flatMap((effect) => {
    if (effect.kind === 'cell') return effect.expect.kind === 'revision' ? [cellKey(effect.cell)] : [];
    if (effect.kind !== 'edit' && effect.kind !== 'remove') return [];
    return 'sent' in effect.message ? [effect.message.sent] : [];
  });
  return [...new Set(states)];
}
