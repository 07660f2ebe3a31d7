// Troubles of an account whose connection is open. Without troubles the account is online, otherwise `degraded`.
import type { Link } from '../../../sdk/index.ts';
import type { Account } from '../config.ts';

export class Standing {
  readonly #link: Pick<Link<Account>, 'online' | 'degraded'>;
  readonly #troubles = new Map<string, string>();

  constructor(link: Pick<Link<Account>, 'online' | 'degraded'>) {
    this.#link = link;
  }

  /** Undefined: this part works. */
  told(part: 'channels' | 'history', trouble: string | undefined): void {
    if (trouble === undefined) this.#troubles.delete(part);
    else this.#troubles.set(part, trouble);
    if (this.#troubles.size === 0) this.#link.online();
    else this.#link.degraded([...this.#troubles.values()].join('; '));
  }
}
