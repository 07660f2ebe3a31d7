// The client address of a request behind trusted proxies. Express reads X-Forwarded-For from the right, up to the first untrusted hop.
import type { IncomingMessage } from 'node:http';
import type { Express } from 'express';
import type { HttpLog } from '../log.ts';

export class ClientAddresses {
  readonly #app: () => Express | undefined;
  readonly #log: HttpLog;
  #proxies: readonly string[] | undefined;

  /** `app`: it is there once a proxy is trusted. */
  constructor(app: () => Express | undefined, log: HttpLog) {
    this.#app = app;
    this.#log = log;
  }

  /** The client's address, or the peer's if no proxy is trusted. */
  of(request: IncomingMessage, proxies: readonly string[]): string {
    const peer = request.socket.remoteAddress ?? '';
    if (proxies.length === 0) return peer;
    this.#trusting(proxies);
    return (request as IncomingMessage & { readonly ip?: string }).ip ?? peer;
  }

  /** True if the peer is a trusted proxy, so its connections belong to many clients. */
  isProxy(peer: string, proxies: readonly string[]): boolean {
    if (proxies.length === 0) return false;
    const trust = this.#trusting(proxies)?.get('trust proxy fn') as (address: string, hop: number) => boolean;
    return trust?.(peer, 0) ?? false;
  }

  #trusting(proxies: readonly string[]): Express | undefined {
    const app = this.#app();
    if (app === undefined || this.#proxies === proxies) return app;
    this.#proxies = proxies;
    try {
      app.set('trust proxy', [...proxies]);
    } catch (error) {
      app.set('trust proxy', false);
      this.#log.warn({ err: error }, 'trusted proxies are not addresses, none is trusted');
    }
    return app;
  }
}
