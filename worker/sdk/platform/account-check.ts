// An adapter's check of one account for an operator (`svc doctor --endpoint`), with or without a running host.
//
//   ADAPTER-CHECK-1  A check changes nothing on the platform: it sends no message, registers nothing and takes nothing out of a queue.
//   ADAPTER-CHECK-2  A check yields one finding after the other (`async *check`), so earlier findings survive a later network failure. An error
//                    that it throws becomes a finding: `accountFailed` with its remedy, any other error as "platform not reached".
//   ADAPTER-CHECK-3  The host masks secrets in findings; a check should not quote any.
import type { Logger } from '../handler-context.ts';

/** One finding of a check. */
export interface CheckResult {
  /** A short and stable name, for scripts: `token`, `scopes`, `webhook`, `deliveries`. */
  readonly name: string;
  /** `warn`: works, but needs a look. `skip`: the platform gives no information. */
  readonly status: 'ok' | 'warn' | 'error' | 'skip';
  /** One line for the operator. */
  readonly detail: string;
  /** The remedy, as a command if there is one. */
  readonly remedy?: string;
}

/** The second argument of an adapter's `check`. */
export interface CheckTools {
  readonly endpoint: string;
  readonly log: Logger;
  /** Aborts when the time limit of this account is over, after about ten seconds. */
  readonly signal: AbortSignal;
  /** The webhook address for the platform; undefined for accounts without webhooks, and while `http.publicUrl` is not set. */
  readonly url: string | undefined;
  /**
   * Compares the clocks. `platform` is a time that the platform just gave, or an address. The address is asked without credentials, and its Date
   * header is the time.
   */
  clock(platform: string | Date): Promise<CheckResult>;
}
