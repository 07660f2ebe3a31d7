// Result of the last verification of a checkpoint: `c12.verified.json`, beside its folder, which never changes.
import { stableJson, writeFileAtomic } from '../files/atomic-file.ts';
import { verificationFile } from './layout.ts';

export interface Verification {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** How far it got: hashes of all parts, or a whole restore in a folder of its own. */
  readonly level: 'checked' | 'rehearsed';
  readonly ok: boolean;
  readonly ms: number;
  /** The svc that verified. */
  readonly svc: string;
  /** Each names its part and what to do. */
  readonly faults: readonly string[];
}

export const writeVerification = (project: string, name: string, result: Verification): void =>
  writeFileAtomic(verificationFile(project, name), stableJson(result));
