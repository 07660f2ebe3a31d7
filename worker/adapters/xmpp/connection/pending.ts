// What was written and is waited for: an acknowledgement of the server (XEP-0198), or in a room its own echo.
//
//   W1  A wait ends once: confirmed, refused, by the time limit, or with the session. The last two throw: the server may have taken it.
//   W2  A wait outlives a connection that breaks, for as long as the session may be resumed: the library writes the stanza again if the
//       server does not have it. What is given up is taken out of what would be written again.
//   W3  Only where it went to, and the servers on the way, can refuse it: others in a room see its id, too.
import type { XmlElement } from '@xmpp/client';
import { bareOf, normalJid, resourceOf, type StanzaFault } from '../stanza.ts';

export type Outcome =
  | { readonly kind: 'confirmed'; readonly archiveId: string | undefined }
  | { readonly kind: 'refused'; readonly fault: StanzaFault };

export interface Expected {
  readonly id: string;
  readonly stanza: XmlElement;
  /** Confirmed by the room's echo and not by the server's acknowledgement. */
  readonly isEchoed: boolean;
  readonly limitMs: number;
}

interface Waiting extends Expected {
  settle(outcome: Outcome | Error): void;
}

export class Pending {
  readonly #waiting = new Map<string, Waiting>();
  /** Called with a stanza that nobody waits for any more. */
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

  /** The server has taken this stanza. */
  acknowledged(stanza: XmlElement): void {
    const waiting = this.#of(stanza);
    if (waiting?.isEchoed === false) this.#settle(waiting.id, { kind: 'confirmed', archiveId: undefined });
  }

  /** True when it was waited for. */
  echoed(id: string, archiveId: string | undefined): boolean {
    const isOurs = this.#waiting.get(id)?.isEchoed === true;
    if (isOurs) this.#settle(id, { kind: 'confirmed', archiveId });
    return isOurs;
  }

  /** W3; `from` undefined: our own server. True when it was waited for. */
  refused(id: string, fault: StanzaFault, from: string | undefined): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || (from !== undefined && !speaksFor(from, waiting))) return false;
    this.#settle(id, { kind: 'refused', fault });
    return true;
  }

  /** The session ended, and the server had not acknowledged it. */
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

/** W3. A person may be there with any resource; in a room that is somebody else. */
function speaksFor(from: string, { stanza, isEchoed }: Expected): boolean {
  const to = normalJid(stanza.attrs['to'] ?? '');
  const place = bareOf(to);
  const isPerson = !isEchoed && resourceOf(to) === '';
  return [to, place, place.split('@').at(-1)].includes(from) || (isPerson && bareOf(from) === place);
}
