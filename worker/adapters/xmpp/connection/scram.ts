// SCRAM-SHA-1 (RFC 5802) of the client library, with the salted password computed by Node's PBKDF2.
//
//   XMPP-SCRAM-1  The library waits for the thread pool once for each of some ten thousand rounds.
//                 The rounds take half a second on an idle machine. On a busy one they exceed the time limit of a login.
//   XMPP-SCRAM-2  A challenge without our nonce is refused. So is one with too many rounds, which would keep this process busy.
import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { Scram, ScramCredentials, XmppEntity } from '@xmpp/client';

const NAME = 'SCRAM-SHA-1';
const SHA1_BYTES = 20;
/** Servers use about ten thousand rounds. This limit takes one or two seconds on a thread of the pool. */
const MOST_ROUNDS = 4_000_000;

export function quickenScram({ saslFactory }: XmppEntity): void {
  for (const known of saslFactory._mechs) if (known.name === NAME) known.mech = quick(known.mech);
}

const quick = (Own: new () => Scram): (new () => Scram) =>
  class extends Own {
    /** True between the challenge and the library's request for the response to it. */
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
