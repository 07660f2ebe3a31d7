// The one way to claim: whatever begins work on a stored item or send, or ends it, is written under the authority of this worker (database/authority.ts).
//
//   M1  A claim is a statement with a guard: refused where somebody else has ended the item.
//   M2  A worker whose authority has gone to another one begins and ends nothing more: for it the storage is as good as failed, which the look at
//       the database says within a second or two (database/database-host.ts), also where nothing is claimed.
import type { Core } from '../core/core.ts';
import { authorityGone, isFencedOut } from '../database/authority.ts';
import type { Unit, UnitAnswer } from '../database/unit.ts';

/**
 * Commits a unit that claims, or ends what was claimed. Throws `storage_unavailable` where the authority is gone (M2); then nothing of it is stored.
 * `isClaiming`: false for one of those that only some claim in; what is stored unclaimed anybody may store.
 */
export async function commitClaiming(
  { writer, fence }: Pick<Core, 'writer' | 'fence'>,
  unit: Unit,
  isClaiming = true,
): Promise<UnitAnswer> {
  const answer = await writer.commit(fence === undefined || !isClaiming ? unit : { ...unit, fence });
  if (isFencedOut(answer)) throw authorityGone();
  return answer;
}
