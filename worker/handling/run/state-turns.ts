// Who goes next among runs that depend on the same state. Of many that have read a cell one commits and all others run again: without turns
// most of them would use up their attempts while others overtake them.
//
//   T1  A run whose state has moved waits for those before it, first come first served, and runs again alone among them.
//   T2  While somebody waits, a run that has not waited does not overtake: it gets in line.
//   T3  Slow is not alone: a turn is over after PATIENCE_MS, a wait after LONGEST_WAIT_MS. The guards of the units decide, turns only spare work.
import { within } from '../../../shared/time/abort.ts';
import type { Clock } from '../../../shared/time/clock.ts';
import { cellKey, type Effect, type Run } from './run.ts';

const PATIENCE_MS = 1_000;
const LONGEST_WAIT_MS = 5_000;

export class StateTurns {
  readonly #clock: Clock;
  /** By what they depend on: the end of the last turn in line. */
  readonly #lines = new Map<string, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For one handler and one item. */
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

  /** T2. */
  mayCommit({ effects }: Run): boolean {
    return this.#hasWaited || this.#lines.size === 0 || !statesOf(effects).some((state) => this.#lines.has(state));
  }

  /** What the run depends on has moved: resolves when it is to run again. */
  async take({ effects }: Run): Promise<void> {
    this.end();
    const states = statesOf(effects);
    const before = states.flatMap((state) => this.#lines.get(state) ?? []);
    let giveBack = (): void => {};
    const turn = new Promise<void>((resolve) => {
      giveBack = resolve;
    });
    // In all lines at once: whoever comes later is behind in each, so that no two wait for each other.
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

/** What the unit of these effects guards. */
function statesOf(effects: readonly Effect[]): readonly string[] {
  const states = effects.flatMap((effect) => {
    if (effect.kind === 'cell') return effect.expect.kind === 'revision' ? [cellKey(effect.cell)] : [];
    if (effect.kind !== 'edit' && effect.kind !== 'remove') return [];
    return 'sent' in effect.message ? [effect.message.sent] : [];
  });
  return [...new Set(states)];
}
