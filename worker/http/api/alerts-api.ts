// Alerts and silences, for an operator to read and change, and the figures that they are made of.
import type {
  AlertTestAsk,
  AlertTested,
  ShownAlerts,
  ShownSilence,
  SilenceAsk,
  UnsilenceAsk,
} from '../../../shared/api/monitoring/alert.ts';
import type { ShownFigures } from '../../../shared/api/monitoring/figures.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface AlertsApi {
  /** `texts` false: without reasons, and without who silenced. */
  list(texts: boolean): Promise<ShownAlerts>;
  /** Samples of the last hour, of these names or of all that are sampled. */
  figures(names: readonly string[] | undefined): Promise<ShownFigures>;
  /** Replaces a silence of the same name and key. Throws `not_found` for a name that is no rule, `invalid_request` for a time that is over. */
  silence(caller: Caller, ask: SilenceAsk, keep: Keep<ShownSilence>): Promise<ShownSilence>;
  /** Throws `not_found`. */
  unsilence(caller: Caller, ask: UnsilenceAsk, keep: Keep<undefined>): Promise<void>;
  /** Sends a test message to all targets, or to those of one account. Throws `refused` without one. */
  test(caller: Caller, ask: AlertTestAsk, keep: Keep<AlertTested>): Promise<AlertTested>;
}
