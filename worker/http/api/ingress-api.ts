// Whether what comes in is handled now.
import type { IngressChange, IngressState } from '../../../shared/api/runtime.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface AskedOfIngress {
  /** Left out: any state. */
  readonly isMeant?: (state: IngressState) => boolean;
  readonly keep?: Keep<IngressState>;
}

export interface IngressApi {
  /** Throws `storage_unavailable` while it is not known. */
  state(): IngressState;
  /** Throws `precondition_failed` where the state is not the one that is meant. */
  set(caller: Caller, change: IngressChange, asked: AskedOfIngress): Promise<IngressState>;
}
