// Sent stanzas that await a confirmation: the server's acknowledgement (XEP-0198), or the echo of the room.
//
//   XMPP-PENDING-1  A wait ends once: confirmed, refused, at the time limit or with the session.
//                   The last two throw, because the server may have accepted the stanza.
//   XMPP-PENDING-2  A wait survives a lost connection while the session may be resumed. The library then sends the stanza again if needed.
//                   A stanza whose wait has ended is not sent again.
//   XMPP-PENDING-3  Only the addressee, its server and our own server can refuse a stanza. Other people in a room also see its id.
import type { XmlElement } from '@xmpp/client';
import { bareOf, normalJid, resourceOf, type StanzaFault } from '../stanza.ts';

export type Outcome =
  | { readonly kind: 'confirmed'; readonly archiveId: string | undefined }
  | { readonly kind: 'refused'; readonly fault: StanzaFault };

export interface Expected {
  readonly id: string;
  readonly stanza: XmlElement;
  /** Confirmed by the room's echo instead of the server's acknowledgement. */
  readonly isEchoed: boolean;
  readonly limitMs: number;
}

interface Waiting extends Expected {
  settle(outcome: Outcome | Error): void;
}

export class Pending {
  readonly #waiting = new Map<string, Waiting>();
  /** Called with a stanza whose wait was given up. */
  withdraw: (stanza: XmlElement) => void = () => {};

  expect(expected: Expected): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.withdraw(expected.stanza);
        this.#settle(expected.id, new Error(`the server did not confirm within ${expected.limitMs} ms`));
      }, expected.limitMs);
      const settle: Waiting['settle'] = (outcome) => {
        clearTimeout(timer);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      this.#waiting.set(expected.id, { ...expected, settle });
    });
  }

  /** The server has acknowledged this stanza. */
  acknowledged(stanza: XmlElement): void {
    const waiting = this.#of(stanza);
    if (waiting?.isEchoed === false) this.#settle(waiting.id, { kind: 'confirmed', archiveId: undefined });
  }

  /** Whether the id was awaited. */
  echoed(id: string, archiveId: string | undefined): boolean {
    const isOurs = this.#waiting.get(id)?.isEchoed === true;
    if (isOurs) this.#settle(id, { kind: 'confirmed', archiveId });
    return isOurs;
  }

  /** Ends a wait if the sender may refuse the stanza. `from` is undefined for our own server. True if it was awaited. */
  refused(id: string, fault: StanzaFault, from: string | undefined): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || (from !== undefined && !speaksFor(from, waiting))) return false;
    this.#settle(id, { kind: 'refused', fault });
    return true;
  }

  /** The session ended before the server acknowledged this stanza. */
  failed(stanza: XmlElement): void {
    const waiting = this.#of(stanza);
    if (waiting !== undefined) this.#settle(waiting.id, new Error('connection lost before the server confirmed'));
  }

  end(): void {
    for (const { id, stanza } of this.#waiting.values()) {
      this.withdraw(stanza);
      this.#settle(id, new Error('connection lost before the server confirmed'));
    }
  }

  #of(stanza: XmlElement): Waiting | undefined {
    const waiting = this.#waiting.get(stanza.attrs['id'] ?? '');
    return waiting?.stanza === stanza ? waiting : undefined;
  }

  #settle(id: string, outcome: Outcome | Error): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(outcome);
  }
}

/** Whether the sender may refuse the stanza. A person may answer from any resource; in a room another resource is another person. */
function speaksFor(from: string, { stanza, isEchoed }: Expected): boolean {
  const to = normalJid(stanza.attrs['to'] ?? '');
  const place = bareOf(to);
  const isPerson = !isEchoed && resourceOf(to) === '';
  return [to, place, place.split('@').at(-1)].includes(from) || (isPerson && bareOf(from) === place);
}
