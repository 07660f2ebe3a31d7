// What does not work of an account that is online, by what it is about: said in one line, and well once nothing is left of it.
import type { Link } from '../../../sdk/index.ts';

export type Trouble = 'connections' | 'address';

/** Of one connection of the host. */
export class Troubles {
  readonly #link: Pick<Link<unknown>, 'online' | 'degraded'>;
  readonly #reasons = new Map<Trouble, string>();

  constructor(link: Pick<Link<unknown>, 'online' | 'degraded'>) {
    this.#link = link;
  }

  /** Of an account that is online; undefined: that works. */
  tell(about: Trouble, reason: string | undefined): void {
    if (this.#reasons.get(about) === reason) return;
    if (reason === undefined) this.#reasons.delete(about);
    else this.#reasons.set(about, reason);
    if (this.#reasons.size === 0) this.#link.online();
    else this.#link.degraded([...this.#reasons.values()].join('; '));
  }
}
