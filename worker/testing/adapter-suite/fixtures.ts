// Fixtures: the author's description of the platform. The more of it is given, the more promises the suite tries.
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';

/** The platform by its documentation: deliveries and responses for the adapter, and facts for the suite. */
export interface Fixtures {
  /** One `endpoints[]` entry of the configuration, for a platform at this address. */
  account(url: string): Record<string, unknown>;
  /** Another account of the platform, if two connections of one account would conflict. Left out: `account` a second time. */
  other?(url: string): Record<string, unknown>;
  /** The account with a refused token, for a platform without HTTP. With HTTP the suite answers 401. */
  refused?(url: string): Record<string, unknown>;
  /** The platform's HTTP responses, by its documentation. Left out for a platform without HTTP: `account` then names a server of the test's own. */
  platform?(request: RawRequest): HttpAnswer;
  /** A delivery with a valid signature and at least one whole message. Required if the account has a webhook. */
  good?(): RawRequest;
  /** A delivery of the account's own message, if the platform delivers those. */
  own?(): RawRequest;
  /** Deliveries of several messages of one conversation, as the platform makes them: in one delivery if it batches. */
  several?(): readonly RawRequest[];
  /** Ids of the messages in `several`, in order. */
  readonly order?: readonly string[];
  /** Texts that must never be in logs, in faults or in stored data. */
  readonly secrets: readonly string[];
  /** Ids of the arrivals that `catchUp` brings, in order, without the bot's own. For an adapter without `catchUp`: that `connect` brings. */
  readonly history?: readonly string[];
  /** A stored cursor to start from, if an account without a cursor catches nothing up. */
  readonly cursor?: string;
  /** For a `catchUp` that asks the platform to deliver again: the delivery that this request asks for. */
  redelivers?(request: RawRequest): RawRequest | undefined;
  /** The id of a conversation to send to, by the platform's naming. Default `room`. */
  readonly conversation?: string;
  /** Another conversation. Default `conversation`. */
  readonly elsewhere?: string;
  /** Parts that the platform's signature does not cover: the bytes (a shared token instead of a signature), the time. Left out: it covers both. */
  readonly unsigned?: readonly ('bytes' | 'time')[];
  /** The fixtures' platform takes edits, reactions (👍) and removals too. Without HTTP, `taken` reports them. */
  readonly changes?: true;
  /** The fixtures' platform lists sent messages, and the adapter searches there for a send marked `repeat`. */
  readonly finds?: true;
  /**
   * Everything that a platform without HTTP was sent so far, in order: an entry for each message, edit, reaction and removal, with its whole text and
   * whatever tells one change from another. The suite compares what is new since its last look. Lines that only keep a connection (pings,
   * a login) may be among them.
   */
  taken?(): readonly string[];
  /**
   * Ends the connections of a platform without HTTP; with HTTP the suite cuts them. `connect` then has to end. If the adapter reconnects by itself
   * instead, resolve once it has.
   */
  cut?(): Promise<void> | void;
  /**
   * Makes a platform without HTTP refuse every send, and ask to wait for `afterMs` in its own way; with HTTP the suite answers 429. Undefined: it
   * takes sends again.
   */
  slows?(afterMs: number | undefined): void;
  /** Makes a platform without HTTP refuse the next send permanently. With HTTP the suite answers 400. */
  refuses?(): void;
  /**
   * Reasons why the platform lacks something, by the missing part; a skipped test shows the reason. With `without`, every promise is tried that has
   * no reason here. A missing part without a reason is refused, and so is a reason for a part that exists.
   */
  readonly without?: Readonly<Partial<Record<Part, string>>>;
  /**
   * Most milliseconds of silence: without a request, a commit, a log line, a call or a connection that begins or ends. Then the promise is broken, and
   * the promises behind it are skipped. Default 10 000.
   */
  readonly timeoutMs?: number;
}

/** A fixture that a promise may need. */
export type Fixture = Exclude<keyof Fixtures, 'account' | 'secrets' | 'without' | 'timeoutMs'>;

/** A part whose absence keeps a promise from being tried: of the adapter, of its platform's features, or of the fixtures. */
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
