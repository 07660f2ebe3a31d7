// Ingress: whether incoming messages are handled now, or paused.
import type { IngressChange, IngressPreview, IngressState, IngressStatus } from '../../../shared/api/runtime.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface AskedOfIngress {
  /** Accepts the state that the change is meant for. Left out: any state. */
  readonly isMeant?: (state: IngressState) => boolean;
  readonly keep?: Keep<IngressState>;
}

export interface IngressApi {
  /** Throws `storage_unavailable` while the state is not loaded. */
  state(): IngressState;
  /** The state, with what still runs. Throws as `state`. */
  status(): Promise<IngressStatus>;
  /** What a resume would begin now. Throws as `state`. */
  preview(): Promise<IngressPreview>;
  /** Throws `precondition_failed` if `isMeant` rejects the current state. */
  set(caller: Caller, change: IngressChange, asked: AskedOfIngress): Promise<IngressState>;
}
