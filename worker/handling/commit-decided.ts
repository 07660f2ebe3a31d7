// Commits the decision of a handler and reports it to timers, counters and the sender.
import type { UnitAnswer } from '../database/unit.ts';
import type { Decided } from './effects/effects.ts';
import type { HandlingDeps } from './item-ledger.ts';

/** Commits the decision. The follow-ups run only after a successful commit. */
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

/** Runs the follow-ups: the decision is committed, or nothing of it needs storing. */
export function tellDecided(after: HandlingDeps['after'], decided: Decided): void {
  if (decided.dueAt !== undefined) after.due(decided.dueAt);
  if (decided.counts.length > 0) after.counts(decided.counts);
  for (const row of decided.dead) after.deadSend(row);
  for (const endpoint of decided.droppedReactions) after.droppedReaction(endpoint);
}
