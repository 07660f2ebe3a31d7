// Maps between the two ids of a message. A room may give its own id (XEP-0359), which replies, reactions and removals use.
// Corrections use the sender's id. The table holds the recently seen messages with their authors.
import { keepNewest } from '../../sdk/platform/keep-newest.ts';

export interface Known {
  /** The author's full address. */
  readonly author: string;
  /** The sender's own id. */
  readonly origin: string;
}

const MOST = 5_000;

export class MessageIds {
  /** By conversation and message id. */
  readonly #known = new Map<string, Known>();
  /** By conversation, author and the sender's id. */
  readonly #byOrigin = new Map<string, string>();

  /** A sender who repeats another person's message id does not become the author of that message. */
  learn(place: string, message: string, { author, origin }: Known): void {
    if ((this.known(place, message)?.author ?? author) !== author) return;
    keepNewest(this.#known, [`${place}\n${message}`, { author, origin }], MOST);
    if (origin !== '') keepNewest(this.#byOrigin, [`${place}\n${author}\n${origin}`, message], MOST);
  }

  known(place: string, message: string): Known | undefined {
    return this.#known.get(`${place}\n${message}`);
  }

  /** The message id for the author's own id. An unknown id is returned unchanged. */
  named(place: string, author: string, origin: string): string {
    return this.#byOrigin.get(`${place}\n${author}\n${origin}`) ?? origin;
  }
}
