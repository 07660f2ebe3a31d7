// Every transaction that claims a stored item or send, or ends one, is fenced: it commits only while this worker holds the authority over the
// database.
//
//   CLAIMS-1  A claim is a guarded statement. It is refused if the item has ended meanwhile.
//   CLAIMS-2  A worker whose authority has passed to another worker claims and ends nothing more. Its storage counts as failed. A periodic look at
//             the database detects this within two seconds even if nothing is claimed.
import type { Core } from '../core/core.ts';
import { authorityGone, isFencedOut } from '../database/authority.ts';
import type { Unit, UnitAnswer } from '../database/unit.ts';

/**
 * Commits a transaction that claims or ends something. Throws `storage_unavailable` if the authority is gone; then nothing is stored. `isClaiming`:
 * false for a transaction that only stores unclaimed items, which needs no authority.
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
