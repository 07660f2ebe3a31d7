// Which id a message goes by. In rooms that give one (XEP-0359) it is the room's: replies, reactions and removals name it. Corrections name
// the one that the sender gave. This table, of what was seen lately, tells one from the other and who wrote it.
import { keepNewest } from '../../sdk/platform/keep-newest.ts';

export interface Known {
  /** The full address of the author. */
  readonly author: string;
  /** The sender's own id. */
  readonly origin: string;
}

const MOST = 5_000;

export class MessageIds {
  /** By place and the id it goes by. */
  readonly #known = new Map<string, Known>();
  /** By place, author and the sender's id. */
  readonly #byOrigin = new Map<string, string>();

  /** Who repeats the id of somebody else's message does not become its author. */
  learn(place: string, message: string, { author, origin }: Known): void {
    if ((this.known(place, message)?.author ?? author) !== author) return;
    keepNewest(this.#known, [`${place}\n${message}`, { author, origin }], MOST);
    if (origin !== '') keepNewest(this.#byOrigin, [`${place}\n${author}\n${origin}`, message], MOST);
  }

  known(place: string, message: string): Known | undefined {
    return this.#known.get(`${place}\n${message}`);
  }

  /** The id of the message to which its author gave this one. */
  named(place: string, author: string, origin: string): string {
    return this.#byOrigin.get(`${place}\n${author}\n${origin}`) ?? origin;
  }
}
