// Authenticates a request: its Authorization header against every configured token.
//
//   AUTH-1  Comparison is in constant time: all digests are compared, and each is keyed with a random value of the process.
//   AUTH-2  No header or another scheme is 401. `Bearer` with malformed credentials is 400. An unknown token is 401 `invalid_token`.
//   AUTH-3  Wrong tokens spend the budget of their source address. A valid token is never refused because of that budget.
//   AUTH-4  Tokens are read from the settings at each request, so a reload changes them at once.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isBearerToken } from '../../../shared/bearer-token.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { NamedToken } from '../api/caller.ts';
import type { FailureBudget } from './failure-budget.ts';

export interface Identity {
  readonly scope: 'demo' | 'full';
  /** `token:<name>`. */
  readonly actor: string;
}

export type Credentials =
  | { readonly kind: 'absent' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'token'; readonly token: string };

const BEARER = /^bearer(?![A-Za-z0-9!#$%&'*+.^_`|~-])/i;
const REALM = 'Bearer realm="svc"';

/** Reads the value of an Authorization header. Pure. */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined || !BEARER.test(header)) return { kind: 'absent' };
  if (header.charAt(6) !== ' ') return { kind: 'malformed' };
  return readToken(header.slice(7));
}

/** Checks the form of a token alone. Pure. */
export function readToken(token: string): Credentials {
  return isBearerToken(token) ? { kind: 'token', token } : { kind: 'malformed' };
}

interface Digested extends Identity {
  readonly digest: Buffer;
}

export class Authenticator {
  readonly #key = randomBytes(32).toString('hex');
  readonly #budget: FailureBudget;
  #source: readonly NamedToken[] = [];
  #tokens: readonly Digested[] = [];
  #announced: ReadonlyMap<string, Digested> = new Map();

  constructor(budget: FailureBudget) {
    this.#budget = budget;
  }

  /** Resolves with the identity of the token. Throws the error that the client reads. */
  async authenticate(credentials: Credentials, address: string, tokens: readonly NamedToken[]): Promise<Identity> {
    if (credentials.kind === 'absent') throw unauthorized();
    if (credentials.kind === 'malformed') throw malformed();
    const identity = this.#find(credentials.token, tokens);
    if (identity !== undefined) return identity;
    const waitMs = await this.#budget.spend(address);
    if (waitMs === undefined) throw invalidToken();
    throw new SvcError('too_many_requests', 'too many wrong tokens from this address', {
      hint: 'A valid token is not affected by this limit.',
      details: { retryAfterMs: waitMs },
    });
  }

  /** True for any configured token, whatever its scope. Spends no budget. */
  knows(credentials: Credentials, tokens: readonly NamedToken[]): boolean {
    return credentials.kind === 'token' && this.#find(credentials.token, tokens) !== undefined;
  }

  /** Actors that are new, or whose token and scope are unchanged since the last call. Open streams of all other actors must end. */
  validActors(tokens: readonly NamedToken[]): ReadonlySet<string> {
    const before = this.#announced;
    this.#announced = new Map(this.#digested(tokens).map((token) => [token.actor, token]));
    const kept = [...this.#announced.values()].filter(({ actor, scope, digest }) => {
      const known = before.get(actor);
      return known === undefined || (known.scope === scope && known.digest.equals(digest));
    });
    return new Set(kept.map(({ actor }) => actor));
  }

  #find(token: string, tokens: readonly NamedToken[]): Identity | undefined {
    const digest = this.#digest(token);
    let found: Digested | undefined;
    for (const candidate of this.#digested(tokens)) {
      if (timingSafeEqual(candidate.digest, digest)) found = candidate;
    }
    return found;
  }

  #digested(tokens: readonly NamedToken[]): readonly Digested[] {
    if (!areSame(this.#source, tokens)) {
      this.#source = tokens;
      this.#tokens = tokens.map(({ name, scope, token }) => ({
        scope,
        actor: `token:${name}`,
        digest: this.#digest(token.reveal()),
      }));
    }
    return this.#tokens;
  }

  #digest(text: string): Buffer {
    return hash('sha256', this.#key + text, 'buffer');
  }
}

/**
 * The settings object may be new at each request, but its secrets are the same objects until a reload. So they are compared by identity.
 */
const areSame = (one: readonly NamedToken[], other: readonly NamedToken[]): boolean =>
  one === other || (one.length === other.length && one.every((token, at) => isSame(token, other[at])));

const isSame = (one: NamedToken, other: NamedToken | undefined): boolean =>
  one.token === other?.token && one.name === other.name && one.scope === other.scope;

/** Throws `insufficient_scope` when a demo token asks for what needs a full one. */
export function checkScope(identity: Identity, needed: 'demo' | 'full'): void {
  if (identity.scope === 'full' || needed === 'demo') return;
  throw new SvcError('insufficient_scope', 'this needs a token with full scope', {
    hint: 'Use a token with full scope.',
    details: { challenge: `${REALM}, error="insufficient_scope", scope="full"` },
  });
}

const unauthorized = (): SvcError =>
  new SvcError('unauthorized', 'no bearer token was sent', {
    hint: 'Send the header Authorization: Bearer followed by the token.',
    details: { challenge: REALM },
  });

const malformed = (): SvcError =>
  new SvcError('invalid_request', 'the bearer credentials are malformed', {
    hint: 'Send exactly one header Authorization: Bearer, one space, the token.',
  });

const invalidToken = (): SvcError =>
  new SvcError('invalid_token', 'this token is not known', {
    hint: 'The token is the value of http.token in the configuration of the project.',
    details: { challenge: `${REALM}, error="invalid_token"` },
  });
