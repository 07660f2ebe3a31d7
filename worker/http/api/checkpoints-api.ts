// Checkpoints as the HTTP interface sees them.
import type { Checkpoint, Checkpoints } from '../../../shared/api/recovery/checkpoint.ts';
import type { Caller } from './caller.ts';

export interface CheckpointsApi {
  /** `texts`: reasons, targets and names of secrets are shown. */
  list(texts: boolean): Promise<Checkpoints>;
  /** Throws `not_found`. */
  show(name: string, texts: boolean): Promise<Checkpoint>;
  /** What a restore would do, a `RestorePlan`. Throws `not_found`, `conflict` while another plan is made, and what a restore would be refused with. */
  plan(name: string): Promise<object>;
  /** Begins one and returns its name. Throws `conflict` while one is made, and without room `storage_unavailable`. */
  create(caller: Caller, asked: { readonly reason: string | null }): Promise<{ readonly name: string }>;
  /** Begins a verification. Throws `not_found`, and `conflict` while one is under way. */
  verify(caller: Caller, name: string, asked: { readonly quick: boolean }): Promise<{ readonly name: string }>;
}
