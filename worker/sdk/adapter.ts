// An adapter speaks the protocol of one platform. The host does markup, splitting, retries and ids of its own. Plugins never see an adapter.
//
//   ADAPTER-1  `verify` and `parse` are pure. `link.receive` resolves once arrivals and cursor are stored, in one transaction. An adapter
//              acknowledges a delivery to the platform only after that.
//   ADAPTER-2  `send` makes one call to the platform. The host splits, degrades, renders, resolves ids, waits and retries.
//   ADAPTER-3  `connect` holds the connection until `link.signal` aborts. If `connect` returns or throws, the connection is lost. The host then
//              reconnects with backoff, without end.
import type { TObject, TProperties } from 'typebox';
import { markDefinition } from './definition-mark.ts';
import type { Logger } from './handler-context.ts';
import type { Conversation, FileRef, Rich, Segment, User } from './message.ts';
import type { CheckResult, CheckTools } from './platform/account-check.ts';
import type { PlatformSocket } from './platform/platform-socket.ts';
import type { HttpAnswer, RawRequest, Verdict } from './request.ts';
import type { Values } from './schema/schema.ts';

/** Features of the platform. The host degrades a missing feature, in the same way for all adapters. */
export interface Can {
  readonly text: {
    /** Longest text of a message, in `unit`. The host splits a longer text into at most 20 parts, cuts the rest, and the last part says so. */
    readonly limit: number;
    readonly unit: 'bytes' | 'utf16' | 'codepoints';
    readonly render: 'plain' | 'markdown' | 'html' | ((rich: Rich) => string);
  };
  /** Most buttons in one message. */
  readonly buttons?: number;
  readonly edit?: boolean;
  readonly remove?: boolean;
  readonly react?: boolean;
  readonly threads?: boolean;
  readonly replies?: boolean;
  /** A message in a group that only one person sees. */
  readonly only?: boolean;
  readonly typing?: boolean;
  readonly files?: {
    readonly maxBytes: number;
    /** Media types that the platform takes; other files are sent as links. Left out: all types. */
    readonly types?: readonly string[];
    /**
     * Pure: says which files of a post go in one call with this text, and which in further calls. Each further call is a send of its own, so a
     * crash repeats at most one of them. Left out: all files go with the text.
     */
    readonly apart?: (text: string, files: readonly FileRef[]) => FilesApart;
    /** The platform fetches files itself (`link.fileUrl`), over https only. Without an https address the host treats files as not supported. */
    readonly byLink?: true;
  };
  /** The platform drops a second call with the same key: always, or for `forMs` after the first. A later attempt is marked `repeat`. */
  readonly idempotent?: boolean | { readonly forMs: number };
}

/** The calls in which the files of a post go, in order. */
export interface FilesApart {
  readonly withText: readonly FileRef[];
  readonly behind: readonly (readonly FileRef[])[];
}

/** One account, for as long as its generation lives. */
export interface Link<A> {
  readonly account: A;
  readonly endpoint: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The last stored cursor. */
  readonly cursor: string | undefined;
  /** Tells the host that the connection is up; after `degraded`, that everything works again. */
  online(): void;
  /** Tells the host that the connection is up and takes sends, but something else does not work. */
  degraded(reason: string): void;
  /**
   * Takes the WebSockets that the platform opens to this account (`webhook.socket`), also those opened while `connect` was not running. After at
   * most one failure, such a WebSocket makes the host call `connect` at once; after more failures the backoff continues.
   */
  accept(take: (socket: PlatformSocket) => void): void;
  /** Stores arrivals and cursor in one transaction; resolves once they are stored. */
  receive(arrivals: readonly Arrival[], cursor?: string): Promise<void>;
  /** The bytes of a file that a send names, whatever the source of the file. */
  readFile(file: FileRef): Promise<Uint8Array<ArrayBuffer>>;
  /** The same file as a stream, for platforms that take one: the file is never whole in memory. */
  openFile(file: FileRef): Promise<FileContent>;
  /**
   * A signed link to the file, for platforms that fetch files themselves. Anyone with the link may read that file for `files.linkHours`. Undefined
   * if the host has no address (`http.publicUrl`), and for a file that is stored on a platform.
   */
  fileUrl(file: FileRef): string | undefined;
  /** `files.maxFileBytes`: the host reads no more bytes of the stream that `fetchFile` returns. */
  readonly maxFileBytes: number;
}

/** An opened file. */
export interface FileContent {
  /** The size; undefined if it is unknown before the end. */
  readonly bytes: number | undefined;
  /** Each call reads from the beginning. Iteration throws once there are more bytes than `files.maxFileBytes`. */
  content(): AsyncIterable<Uint8Array>;
}

interface ArrivalBase {
  /** The platform's id of this delivery. The host handles each id once. */
  readonly id: string;
  readonly conversation: Omit<Conversation, 'endpoint'>;
  /** `self`: the bot's own account; the host drops the arrival. */
  readonly user: Omit<User, 'endpoint'> & { readonly self?: boolean };
  readonly sentAt: number;
}
/** One thing that happened on the platform. Plain JSON: the host stores it unchanged. */
export type Arrival = ArrivalBase &
  (
    | {
        readonly kind: 'message' | 'edited';
        readonly message: string;
        /** The endpoint of a mentioned person may be empty: the host fills in the account's own. */
        readonly text: string | readonly Segment[];
        readonly replyTo?: string;
        /**
         * The message mentions the bot or replies to it. The host sets this itself in private conversations. The bot's name at the beginning is not
         * part of the text.
         */
        readonly addressed?: boolean;
        readonly files?: readonly FileRef[];
      }
    | { readonly kind: 'deleted'; readonly message: string }
    | {
        readonly kind: 'command';
        readonly name: string;
        readonly args: Readonly<Record<string, unknown>>;
        /** The line typed after the name, for a platform that does not parse arguments. The host reads it instead of `args`. */
        readonly line?: string;
      }
    | { readonly kind: 'pressed'; readonly message: string; readonly token: string }
    | {
        readonly kind: 'other';
        readonly type: string;
        readonly raw: unknown;
        /** Why it is not one of the other kinds, if its sender probably meant one. The host logs it once a minute. Without user content. */
        readonly fault?: string;
      }
    | { readonly kind: 'reaction'; readonly message: string; readonly emoji: string; readonly on: boolean }
    | { readonly kind: 'member'; readonly who: string; readonly change: 'joined' | 'left' }
  );

interface OutgoingBase {
  /** Idempotency key: the same on each attempt. */
  readonly key: string;
  /** An earlier attempt may have reached the platform. With `can.idempotent` this is set only once `forMs` is over. */
  readonly repeat?: true;
  /** With `repeat`: how to find the message that the earlier attempt may have made. */
  readonly search?: {
    /** When the send was stored, epoch milliseconds by the host's clock. The message is not older. */
    readonly from: number;
    /** The platform's ids of messages made by other sends of the conversation, the newest first. The message is none of them. */
    readonly others: readonly string[];
  };
  readonly conversation: string;
  readonly thread?: string;
}
/** One call to the platform; `message` and `replyTo` are the platform's ids. */
export type Outgoing = OutgoingBase &
  (
    | {
        readonly kind: 'post' | 'edit';
        readonly message?: string;
        readonly text: string;
        readonly buttons: readonly {
          readonly label: string;
          readonly token: string;
          readonly style?: 'primary' | 'danger';
        }[];
        /** A file that came from this account has the platform's id. The bytes of any file come from `link.openFile` and `link.readFile`. */
        readonly files: readonly FileRef[];
        readonly replyTo?: string;
        readonly only?: string;
      }
    | { readonly kind: 'remove'; readonly message: string }
    | { readonly kind: 'react'; readonly message: string; readonly emoji: string; readonly on: boolean }
    | { readonly kind: 'typing' }
  );

/**
 * The result of one call.
 *
 * - `later`: the host retries after `afterMs`. With `account`, all sends of the account wait: for `accountMs` if given, else for `afterMs`.
 * - `refused`: never retried; the send becomes a dead letter. With `gone`, the recipient is no longer there, and the dead letter expires
 *   (`outbox.deadDays`).
 *
 * If `send` throws, the outcome is unknown.
 */
export type SendResult =
  | { readonly kind: 'sent'; readonly message?: string }
  | { readonly kind: 'later'; readonly afterMs: number; readonly account?: true; readonly accountMs?: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly gone?: true };

/** A command as `announce` receives it. */
export interface CommandInfo {
  readonly name: string;
  readonly summary: string;
  readonly args: TObject;
}

/** Everything that the host asks of an adapter. If an optional member is left out, the platform does not have that feature. */
export interface AdapterDefinition<A extends TProperties> {
  readonly name: string;
  /** Keys of one `endpoints[]` entry of the configuration. */
  readonly account: A;
  readonly can: Can;
  /** Initial rate of the limiter. A Retry-After of the platform overrides it. */
  readonly rate?: {
    readonly perSecond?: number;
    readonly perConversation?: { readonly count: number; readonly perMs: number };
  };
  readonly webhook?: {
    verify(r: RawRequest, account: Values<A>): Verdict;
    parse(r: RawRequest, account: Values<A>): readonly Arrival[];
    /**
     * Pure: answers a platform that confirms the address with a GET (`hub.challenge`). The request is answered or refused, never stored. Left out:
     * a GET gets 405.
     */
    challenge?(r: RawRequest, account: Values<A>): Exclude<Verdict, { readonly kind: 'ok' }>;
    /** Pure: the answer to a delivery once it is stored. Left out: 200 with the numbers of new arrivals and duplicates. */
    answer?(r: RawRequest, account: Values<A>): HttpAnswer;
    /** Largest body that the platform sends, in bytes. Default 1 MiB. */
    readonly maxBytes?: number;
    /** For platforms that open a WebSocket to the address. Left out: the host refuses an upgrade. */
    readonly socket?: {
      /** Pure: checks the upgrade request. A refused one gets 401, or 403 with `status: 403` if the caller is known and not allowed. */
      verify(r: RawRequest, account: Values<A>): Verdict;
      /** Largest message, in bytes. Default 1 MiB. */
      readonly maxBytes?: number;
      /** Pure: false for an account to which the platform opens no WebSocket. Left out: true. */
      takes?(account: Values<A>): boolean;
    };
    /** Pure: false for an account that uses polling or a socket instead; it then has no webhook address. Left out: true. */
    takes?(account: Values<A>): boolean;
    /**
     * For platforms with an API for webhooks: tells the platform to deliver to `url`, with the credentials that `verify` checks. Idempotent for the
     * same address. Resolves to one line for the operator about the result; throws with the platform's reason.
     */
    register?(url: string, link: Link<Values<A>>): Promise<string>;
  };
  /**
   * Pure: why an account with these keys can never work, and the remedy, without asking the platform. `svc config check` reports it; `connect`
   * throws `accountFailed` for the same fault.
   */
  fault?(account: Values<A>): { readonly reason: string; readonly remedy: string } | undefined;
  /** Holds the connection until `link.signal` aborts. If it returns or throws, the host reconnects with backoff. */
  connect?(link: Link<Values<A>>): Promise<void>;
  /** Called each time the endpoint comes up: fetches the arrivals after `link.cursor`. */
  catchUp?(link: Link<Values<A>>): Promise<void>;
  /** Makes one call to the platform. The host has split and rendered the text, and retries. */
  send(call: Outgoing, link: Link<Values<A>>): Promise<SendResult>;
  /**
   * Pure: the id of the private conversation with this person, as arrivals name it. Messages for one person go there. Left out: the platform has no
   * private conversations, or their ids are unknown without a call.
   */
  direct?(user: string): string;
  /**
   * For platforms with command menus. Called when the account comes up, and after the commit of a generation with other commands. The list has no
   * commands for operators.
   */
  announce?(commands: readonly CommandInfo[], link: Link<Values<A>>): Promise<void>;
  /** The bytes of a file that came with an arrival of this account, by the file's id in that arrival. */
  fetchFile?(file: FileRef, link: Link<Values<A>>): Promise<ReadableStream<Uint8Array>>;
  /**
   * Asks the platform about this account for `svc doctor --endpoint`, and yields one finding after the other. Needs no connection and changes
   * nothing on the platform. Typical findings: the owner of the token, missing scopes, clock skew, the webhook address, the last delivery.
   */
  check?(account: Values<A>, tools: CheckTools): AsyncIterable<CheckResult>;
}

/** The default export of an adapter's module: plain data with a mark. */
export interface AdapterModule {
  readonly name: string;
}

/** Marks an adapter for the host, and types its functions. Export the result as default. */
export function defineAdapter<A extends TProperties>(adapter: AdapterDefinition<A>): AdapterModule {
  return markDefinition('adapter', adapter);
}
