// What @discordjs/rest keeps for each route that it has called: with the address of an interaction in it, one for each command that somebody
// ever gave. Its own sweep comes once an hour, from a timer that keeps a client of an account that is gone. So that is off, and they are
// forgotten here.
import type { REST } from '@discordjs/rest';

/** A busy account's channels, and what was answered in the last moments. */
const MOST_ROUTES = 500;

export class IdleRoutes {
  readonly #rest: Pick<REST, 'handlers'>;
  #most = MOST_ROUTES;

  constructor(rest: Pick<REST, 'handlers'>) {
    this.#rest = rest;
  }

  /**
   * To be called before a call. Routes that Discord has closed for a while are kept, and those whose call is on its way; one whose call was
   * begun in the same turn may be forgotten: that call goes on.
   */
  forget(): void {
    const { handlers } = this.#rest;
    if (handlers.size <= this.#most) return;
    handlers.sweep(({ inactive }) => inactive);
    // Where most are in use, they are looked through again only once there are twice as many.
    this.#most = Math.max(MOST_ROUTES, 2 * handlers.size);
  }
}
