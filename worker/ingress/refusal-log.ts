// What the log says of deliveries that are refused, turned away, or taken and not understood, and of requests whose token is refused. There may be as
// many as anybody likes: one line of each kind for an account and a minute tells of the first, and of how many came behind the last line. The metrics
// count each.
import { Seldom } from '../../shared/log/seldom.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';

const MOST_REASON = 200;

export interface RefusedRequest {
  /** Of the client, after trusted proxies. */
  readonly address: string;
  /** As the interface has it, not as it was asked for. */
  readonly route: string;
  readonly status: number;
  readonly requestId: string;
}

export class RefusalLog {
  readonly #core: Pick<Core, 'clock' | 'log'>;
  /** By kind and account or webhook of a plugin: there are as many as the configuration names. */
  readonly #seldom: Seldom;

  constructor(core: Pick<Core, 'clock' | 'log'>) {
    this.#core = core;
    this.#seldom = new Seldom(() => core.clock.now());
  }

  /** The reason is an adapter's or a plugin's, which may have been written without types. */
  refused(endpoint: string, reason: unknown): void {
    const unsaid = this.#seldom.unsaid(`refused ${endpoint}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { endpoint, reason: String(reason ?? '').slice(0, MOST_REASON), unsaid },
      'a delivery was refused: its signature does not fit (said once a minute)',
    );
  }

  /** The error is left to the item, undefined where it was stored before: it may quote what a person wrote. */
  unparsable(endpoint: string, item: string | undefined): void {
    const unsaid = this.#seldom.unsaid(`unparsable ${endpoint}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { endpoint, item, unsaid },
      'a delivery was verified and cannot be parsed: svc inbox show has the error (said once a minute)',
    );
  }

  /** Verified, and not stored: too much waits, or the storage does not take it. */
  rejected(endpoint: string, error: unknown): void {
    const unsaid = this.#seldom.unsaid(`rejected ${endpoint}`);
    if (unsaid === undefined) return;
    const { code, message: reason } = coerceError(error);
    this.#core.log.warn(
      { endpoint, code, reason, unsaid },
      'a delivery was turned away, its sender told to come again (said once a minute)',
    );
  }

  /** One line for all who ask: an address is easily changed, and each would have a line of its own. Nothing of what was sent is in it. */
  token(request: RefusedRequest): void {
    const unsaid = this.#seldom.unsaid('token');
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { ...request, unsaid },
      'a request was refused: its token is not known, or may not do this (said once a minute)',
    );
  }
}
