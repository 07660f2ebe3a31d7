// Claims an item in the transaction that ends the item before it in its lane. A lane with a backlog needs one commit an item instead of two.
//
//   CLAIM-AHEAD-1  Only an item that this process has just stored and never begun is claimed this way. Its attempts and state are known. An item that
//                  was in hand at a process death is claimed in a transaction of its own, which counts the death.
import type { Core } from '../core/core.ts';
import type { Statement, Unit, UnitAnswer } from '../database/unit.ts';
import { commitClaiming } from './claims.ts';
import type { Quarantine } from './quarantine.ts';

/** Refuses a transaction whose next item is no longer open. The caller then commits without the claim. */
export const NEXT_GUARD = 'next';

export interface NextInLane {
  readonly id: string;
  /** To be called once the transaction with the claim is committed. */
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

  /** True if the item is claimed already. Answers true once. */
  take(id: string): boolean {
    return this.#claimed.delete(id);
  }
}

export interface Claim {
  readonly follower: NextInLane;
  readonly statement: Statement;
}

/** Commits a transaction together with the claim of the next item. If the next item has ended meanwhile, commits without the claim. */
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
