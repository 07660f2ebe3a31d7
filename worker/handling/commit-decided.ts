// What was decided, committed, and told to those who wait for it.
import type { UnitAnswer } from '../database/unit.ts';
import type { Decided } from './effects/effects.ts';
import type { HandlingDeps } from './item-ledger.ts';

/** Commits what was decided, then tells those who wait for it. */
export async function commitDecided(
  after: HandlingDeps['after'],
  decided: Decided,
  commit: () => Promise<UnitAnswer>,
): Promise<UnitAnswer> {
  const ended = after.storing(decided.rows);
  let isStored = false;
  try {
    const answer = await commit();
    isStored = answer.kind === 'committed';
    return answer;
  } finally {
    ended(isStored);
    if (isStored) tellDecided(after, decided);
  }
}

/** What was decided is committed, or nothing of it is for the disk: those who wait for it go on. */
export function tellDecided(after: HandlingDeps['after'], decided: Decided): void {
  if (decided.dueAt !== undefined) after.due(decided.dueAt);
  if (decided.counts.length > 0) after.counts(decided.counts);
  for (const endpoint of decided.droppedReactions) after.droppedReaction(endpoint);
}
