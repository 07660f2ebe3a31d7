// Current troubles of an online account, by topic, reported as one `degraded` text. Without troubles the account is online again.
import type { Link } from '../../../sdk/index.ts';

export type Trouble = 'connections' | 'address';

/** One instance for each link to the host. */
export class Troubles {
  readonly #link: Pick<Link<unknown>, 'online' | 'degraded'>;
  readonly #reasons = new Map<Trouble, string>();

  constructor(link: Pick<Link<unknown>, 'online' | 'degraded'>) {
    this.#link = link;
  }

  /** Only for an account that is online. Undefined: the topic works again. */
  tell(about: Trouble, reason: string | undefined): void {
    if (this.#reasons.get(about) === reason) return;
    if (reason === undefined) this.#reasons.delete(about);
    else this.#reasons.set(about, reason);
    if (this.#reasons.size === 0) this.#link.online();
    else this.#link.degraded([...this.#reasons.values()].join('; '));
  }
}
