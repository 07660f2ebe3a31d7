// What an adapter finds out about one of its accounts when an operator asks (`svc doctor --endpoint`), with or without a running host.
//
//   D1  A check asks the platform and changes nothing there: it sends no message, registers nothing and takes nothing out of a queue.
//   D2  It gives one finding after the other (`async *check`), so that what was found before the network failed is told all the same.
//       What it throws is a finding as well: `accountFailed` with its remedy, anything else as a platform that is not reached.
//   D3  Secrets in what it says are masked by the host; it should quote none.
import type { Logger } from '../handler-context.ts';

/** One thing that was looked at. */
export interface CheckResult {
  /** Short and stable, for scripts: `token`, `scopes`, `webhook`, `deliveries`. */
  readonly name: string;
  /** `warn`: works, and is worth a look. `skip`: the platform does not tell. */
  readonly status: 'ok' | 'warn' | 'error' | 'skip';
  /** One line for the operator. */
  readonly detail: string;
  /** What to do about it, as a command where one does it. */
  readonly remedy?: string;
}

/** What `check` of an adapter is given. */
export interface CheckTools {
  readonly endpoint: string;
  readonly log: Logger;
  /** Aborts when the time of this account is over, after about ten seconds. */
  readonly signal: AbortSignal;
  /** Where the platform is to deliver; undefined for accounts without webhooks, and while `http.publicUrl` is not set. */
  readonly url: string | undefined;
  /** Compares the clocks: by the Date header that this address answers with, asked without credentials, or by a time that the platform told just now. */
  clock(platform: string | Date): Promise<CheckResult>;
}
