// Items that were claimed in the unit that ended the one before them in their lane: one commit an item instead of two while a lane has a
// backlog.
//
//   F1  Only an item that this process has just stored and never begun is claimed so: its attempts and its state are known, and whatever
//       ended a process before is claimed by itself, and counted.
import type { Core } from '../core/core.ts';
import type { Statement, Unit, UnitAnswer } from '../database/unit.ts';
import { commitClaiming } from './claims.ts';
import type { Quarantine } from './quarantine.ts';

/** Refuses a unit whose follower is not open any more: the unit is to be committed without it. */
export const NEXT_GUARD = 'next';

export interface NextInLane {
  readonly id: string;
  /** The unit that claims it is committed. */
  claimed(): void;
}

export class ClaimAhead {
  readonly #recent: { has(id: string): boolean };
  readonly #quarantine: Pick<Quarantine, 'any'>;
  readonly #claimed = new Set<string>();

  constructor(recent: { has(id: string): boolean }, quarantine: Pick<Quarantine, 'any'>) {
    this.#recent = recent;
    this.#quarantine = quarantine;
  }

  of(next: { readonly id: string } | undefined): NextInLane | undefined {
    if (next === undefined || this.#quarantine.any || !this.#recent.has(next.id)) return undefined;
    const { id } = next;
    return { id, claimed: () => void this.#claimed.add(id) };
  }

  /** Whether it is claimed; asked once, by whoever runs it. */
  take(id: string): boolean {
    return this.#claimed.delete(id);
  }
}

export interface Claim {
  readonly follower: NextInLane;
  readonly statement: Statement;
}

/** Commits a unit together with the claim of the follower; without it, when somebody else has ended that one meanwhile. */
export async function commitWith(
  core: Pick<Core, 'writer' | 'fence'>,
  { name, statements }: Unit,
  claim: Claim | undefined,
): Promise<UnitAnswer> {
  if (claim === undefined) return commitClaiming(core, { name, statements });
  const answer = await commitClaiming(core, { name, statements: [claim.statement, ...statements] });
  if (answer.kind === 'refused' && answer.guard === NEXT_GUARD) return commitClaiming(core, { name, statements });
  if (answer.kind === 'committed') claim.follower.claimed();
  return answer;
}
