// Acceptance of the running host, as the HTTP interface sees it.
import type { Acceptance, AcceptanceAsk } from '../../../shared/api/recovery/acceptance.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

/** From when on traffic counts, where no release is open. Left out: 24 hours ago. */
export type AcceptanceSpan = Pick<AcceptanceAsk, 'since' | 'within'>;

export interface AcceptanceApi {
  /** Throws `invalid_request` for a time that is none, `storage_unavailable` without a database. */
  judge(span: AcceptanceSpan): Promise<Acceptance>;
  /** Judges again, and stores the acceptance if every row is yes or a settled unknown. Throws as `judge`. */
  accept(caller: Caller, ask: AcceptanceAsk, keep: Keep<Acceptance>): Promise<Acceptance>;
}
