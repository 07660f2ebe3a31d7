// Log lines about refused, rejected, unparsable and misshapen deliveries, and about requests with a refused token. Anyone can cause them, so each kind is logged
// at most once a minute for an account. Each line counts those since the last one; the metrics count all.
import { Seldom } from '../../shared/log/seldom.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';

const MOST_REASON = 200;

export interface RefusedRequest {
  /** Client address, after trusted proxies. */
  readonly address: string;
  /** Route pattern of the interface, not the requested path. */
  readonly route: string;
  readonly status: number;
  readonly requestId: string;
}

export class RefusalLog {
  readonly #core: Pick<Core, 'clock' | 'log'>;
  /** By kind and account or plugin webhook, so it is bounded by the configuration. */
  readonly #seldom: Seldom;

  constructor(core: Pick<Core, 'clock' | 'log'>) {
    this.#core = core;
    this.#seldom = new Seldom(() => core.clock.now());
  }

  /** The reason comes from an adapter or plugin, which may be plain JavaScript. */
  refused(endpoint: string, reason: unknown): void {
    const unsaid = this.#seldom.unsaid(`refused ${endpoint}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { endpoint, reason: String(reason ?? '').slice(0, MOST_REASON), unsaid },
      'a delivery was refused: its signature does not fit (said once a minute)',
    );
  }

  /** The error may quote user content, so only the item has it. `item` is undefined if the delivery was stored before. */
  unparsable(endpoint: string, item: string | undefined): void {
    const unsaid = this.#seldom.unsaid(`unparsable ${endpoint}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { endpoint, item, unsaid },
      'a delivery was verified and cannot be parsed: svc inbox show has the error (said once a minute)',
    );
  }

  /** The delivery was taken, but not as the message that its sender probably meant. */
  notUnderstood(endpoint: string, fault: string): void {
    const unsaid = this.#seldom.unsaid(`not understood ${endpoint}`);
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { endpoint, fault: fault.slice(0, MOST_REASON), unsaid },
      'a delivery was verified and is no message by its form: it was stored as `other`, and its sender told 200 (said once a minute)',
    );
  }

  /** The delivery was verified but not stored: the inbox is full or the storage failed. */
  rejected(endpoint: string, error: unknown): void {
    const unsaid = this.#seldom.unsaid(`rejected ${endpoint}`);
    if (unsaid === undefined) return;
    const { code, message: reason } = coerceError(error);
    this.#core.log.warn(
      { endpoint, code, reason, unsaid },
      'a delivery was turned away, its sender told to come again (said once a minute)',
    );
  }

  /** One line for all clients, because addresses are easily changed. The line holds nothing that the client sent. */
  token(request: RefusedRequest): void {
    const unsaid = this.#seldom.unsaid('token');
    if (unsaid === undefined) return;
    this.#core.log.warn(
      { ...request, unsaid },
      'a request was refused: its token is not known, or may not do this (said once a minute)',
    );
  }
}
