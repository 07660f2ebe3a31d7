// What an adapter's author says of its platform: the more is said, the more promises are tried.
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';

/** The platform as its documentation has it: what the suite says to the adapter, and hears from it. */
export interface Fixtures {
  /** One endpoints[] entry, for a platform at this address. */
  account(url: string): Record<string, unknown>;
  /** Another account of it, where two connections of one account would meet. Left out: `account` a second time. */
  other?(url: string): Record<string, unknown>;
  /** The account with a token that is refused, for a platform without HTTP. With HTTP the suite answers 401. */
  refused?(url: string): Record<string, unknown>;
  /** The platform's side, by its documentation. Left out where it speaks no HTTP: `account` then names a server of the test's own. */
  platform?(request: RawRequest): HttpAnswer;
  /** A delivery with a good signature that holds at least one whole message. Needed where the account has a webhook. */
  good?(): RawRequest;
  /** A delivery of what the account itself said, where the platform delivers that. */
  own?(): RawRequest;
  /** Deliveries as they come, of several messages of one conversation: in one where the platform does so. */
  several?(): readonly RawRequest[];
  /** Ids of what `several` holds, in order. */
  readonly order?: readonly string[];
  /** Texts that may never be in a log or in what is stored. */
  readonly secrets: readonly string[];
  /** Ids of what `catchUp` brings, in order, without our own; of an adapter without it: of what `connect` brings. */
  readonly history?: readonly string[];
  /** The cursor that the account had stored, where one that is new catches nothing up. */
  readonly cursor?: string;
  /** Where `catchUp` asks the platform to deliver again: the delivery that this request asks for. */
  redelivers?(request: RawRequest): RawRequest | undefined;
  /** What a message is sent to, as the platform names it. Default `room`. */
  readonly conversation?: string;
  /** Another one. Default `conversation`. */
  readonly elsewhere?: string;
  /** What the platform's rule does not cover: the bytes (a shared token instead of a signature), the time. Left out: it covers both. */
  readonly unsigned?: readonly ('bytes' | 'time')[];
  /** The platform's side takes edits, reactions (👍) and removals, too; without HTTP `taken` names them. */
  readonly changes?: true;
  /** The platform's side shows what it was sent, and the adapter looks there for a send that is a `repeat`. */
  readonly finds?: true;
  /** Whatever a platform without HTTP was sent by now, in order. */
  taken?(): readonly string[];
  /**
   * A platform without HTTP ends its connections. `connect` has to end then; where the adapter comes back by itself, resolve once it has.
   * With HTTP the suite cuts them.
   */
  cut?(): Promise<void> | void;
  /**
   * A platform without HTTP has enough: it takes nothing that is sent from now on, and asks to wait so long, in its own way; undefined: it
   * takes everything again. With HTTP the suite answers 429.
   */
  slows?(afterMs: number | undefined): void;
  /** A platform without HTTP refuses the next send, for good. With HTTP the suite answers 400. */
  refuses?(): void;
  /**
   * Why the platform has nothing of it, by what is missing: in a word to whoever reads what was skipped. With it everything is tried
   * that has no reason here; what is neither given nor has one, and a reason for what is there, are refused.
   */
  readonly without?: Readonly<Partial<Record<Part, string>>>;
  /** How long something may take to come. Default a minute. */
  readonly timeoutMs?: number;
}

/** What a promise may need of the fixtures. */
export type Fixture = Exclude<keyof Fixtures, 'account' | 'secrets' | 'without' | 'timeoutMs'>;

/** What may be missing where a promise cannot be tried: of the adapter, of what its platform can, or of the fixtures. */
export type Part =
  | 'webhook'
  | 'connect'
  | 'catchUp'
  | 'check'
  | 'edit'
  | 'react'
  | 'remove'
  | 'idempotent'
  | 'secrets'
  | Fixture;
