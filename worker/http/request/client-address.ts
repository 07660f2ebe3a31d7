// The client address of a request behind trusted proxies. Express reads X-Forwarded-For from the right, up to the first untrusted hop.
import type { IncomingMessage } from 'node:http';
import type { Express } from 'express';
import type { HttpLog } from '../log.ts';

export class ClientAddresses {
  readonly #app: Express;
  readonly #log: HttpLog;
  #proxies: readonly string[] | undefined;

  constructor(app: Express, log: HttpLog) {
    this.#app = app;
    this.#log = log;
  }

  /** The client's address, or the peer's if no proxy is trusted. */
  of(request: IncomingMessage, proxies: readonly string[]): string {
    const peer = request.socket.remoteAddress ?? '';
    if (proxies.length === 0) return peer;
    this.#use(proxies);
    return (request as IncomingMessage & { readonly ip?: string }).ip ?? peer;
  }

  /** True if the peer is a trusted proxy, so its connections belong to many clients. */
  isProxy(peer: string, proxies: readonly string[]): boolean {
    if (proxies.length === 0) return false;
    this.#use(proxies);
    const trust = this.#app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    return trust(peer, 0);
  }

  #use(proxies: readonly string[]): void {
    if (this.#proxies === proxies) return;
    this.#proxies = proxies;
    try {
      this.#app.set('trust proxy', [...proxies]);
    } catch (error) {
      this.#app.set('trust proxy', false);
      this.#log.warn({ err: error }, 'trusted proxies are not addresses, none is trusted');
    }
  }
}
