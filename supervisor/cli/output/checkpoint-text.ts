// The newest checkpoint, for `runtime status`: how old it is, how far it is proven, and what failed. Read from its folder, so that it is told whatever
// answers.
import type { NewestCheckpoint, StoredCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';
import { waitText } from '../../../shared/time/wait-text.ts';
import { shown } from './printable.ts';

const FAULT_CHARACTERS = 60;

/** A fault may be as long as a stack: `svc checkpoint show` has all of it. */
export function faultText(fault: string): string {
  const [line = ''] = fault.split('\n');
  const isWhole = line === fault && line.length <= FAULT_CHARACTERS;
  return shown(isWhole ? line : `${line.slice(0, FAULT_CHARACTERS - 1).trimEnd()}…`);
}

/** How far a checkpoint is proven. */
export function levelText({
  level,
  verifiedAt,
}: {
  readonly level: StoredCheckpoint['level'];
  readonly verifiedAt: string | null;
}): string {
  return level === 'made' || verifiedAt === null ? level : `${level} ${ageOf(verifiedAt)} ago`;
}

const ageOf = (time: string): string => waitText(Date.now() - Date.parse(time));

export function checkpointText(newest: NewestCheckpoint | null): string {
  const title = 'checkpoint'.padEnd(11);
  if (newest === null) return `${title} none: svc checkpoint create`;
  const { name, at, level, fault, failed, good } = newest;
  const proven = level === 'made' ? 'not verified' : levelText(newest);
  const facts = [name, ...(at === null ? [] : [`${ageOf(at)} old`]), proven].join(', ');
  if (fault !== null)
    return `${title} ${facts}: ${faultText(fault)}; ${good === null ? 'no other one is good' : `the newest good one is ${good}`}`;
  return `${title} ${facts}${failed === null ? '' : `; ${failed} FAILED: svc checkpoint show ${failed}`}`;
}
