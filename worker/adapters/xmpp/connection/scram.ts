// SCRAM-SHA-1 (RFC 5802) of the client library, with the salted password from Node's own PBKDF2.
//
//   P1  The library signs once for each round, ten thousand times at many servers, and waits for the thread pool at each: half a second on an idle
//       machine, and on a busy one longer than a login may take, again and again.
//   P2  A challenge without our nonce in it is not the server's answer to us; and no server keeps this process busy with its rounds.
import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { Scram, ScramCredentials, XmppEntity } from '@xmpp/client';

const NAME = 'SCRAM-SHA-1';
const SHA1_BYTES = 20;
/** Servers have some ten thousand; this takes a second or two, on a thread of its own. */
const MOST_ROUNDS = 4_000_000;

export function quickenScram({ saslFactory }: XmppEntity): void {
  for (const known of saslFactory._mechs) if (known.name === NAME) known.mech = quick(known.mech);
}

const quick = (Own: new () => Scram): (new () => Scram) =>
  class extends Own {
    /** After the challenge the library asks for the answer to it. */
    #isChallenged = false;

    override challenge(challenge: string): unknown {
      super.challenge(challenge);
      if (!this._nonce?.startsWith(this._cnonce) || this._nonce === this._cnonce)
        throw new Error('the challenge of the server has not the nonce that it was sent');
      if (!(this._iterationCount > 0 && this._iterationCount <= MOST_ROUNDS))
        throw new Error(`the server wants ${this._iterationCount} rounds of SCRAM: 1 to ${MOST_ROUNDS} are made`);
      this.#isChallenged = true;
      return this;
    }

    override async response(credentials: ScramCredentials): Promise<string> {
      if (!this.#isChallenged) return super.response(credentials);
      this.#isChallenged = false;
      const { _salt: salt, _iterationCount: rounds } = this;
      const saltedPassword = await promisify(pbkdf2)(credentials.password, salt, rounds, SHA1_BYTES, 'sha1');
      return super.response({ ...credentials, salt, saltedPassword });
    }
  };
