// Removes unused routes that @discordjs/rest caches. A route with an interaction's URL is cached for each command ever given.
// The client's own sweep runs hourly, from a timer that keeps the clients of removed accounts in memory. That timer is off, and routes are removed
// here.
import type { REST } from '@discordjs/rest';

/** Room for the channels of a busy account and for recent interactions. */
const MOST_ROUTES = 500;

export class IdleRoutes {
  readonly #rest: Pick<REST, 'handlers'>;
  #most = MOST_ROUTES;

  constructor(rest: Pick<REST, 'handlers'>) {
    this.#rest = rest;
  }

  /**
   * Call before each request. Keeps routes that Discord has closed for a while, and routes with a request in flight. A route whose request began in
   * the same turn of the event loop may be removed. That request still completes.
   */
  forget(): void {
    const { handlers } = this.#rest;
    if (handlers.size <= this.#most) return;
    handlers.sweep(({ inactive }) => inactive);
    // If most routes are in use, the next scan waits until there are twice as many.
    this.#most = Math.max(MOST_ROUTES, 2 * handlers.size);
  }
}
