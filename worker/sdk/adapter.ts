// An adapter: how one platform speaks. It never sees markup, splitting, retries or ids of ours; plugins never see it.
//
//   A1  `verify` and `parse` are pure. `link.receive` resolves when stored, cursor in the same transaction: acknowledge after it.
//   A2  `send` is one call to the platform: the host has split, degraded, rendered, resolved ids and waited, and repeats.
//   A3  `connect` holds the connection until `link.signal` aborts; returning or throwing means lost: reconnect with backoff, without end.
import type { TObject, TProperties } from 'typebox';
import { markDefinition } from './definition-mark.ts';
import type { Logger } from './handler-context.ts';
import type { Conversation, FileRef, Rich, Segment, User } from './message.ts';
import type { CheckResult, CheckTools } from './platform/account-check.ts';
import type { PlatformSocket } from './platform/platform-socket.ts';
import type { HttpAnswer, RawRequest, Verdict } from './request.ts';
import type { Values } from './schema/schema.ts';

/** What the platform has. Whatever is missing is degraded by the host, the same for all adapters. */
export interface Can {
  readonly text: {
    /** Most that one message takes, in the unit. What is longer comes in parts, at most 20; the end of more is cut, and the last says so. */
    readonly limit: number;
    readonly unit: 'bytes' | 'utf16' | 'codepoints';
    readonly render: 'plain' | 'markdown' | 'html' | ((rich: Rich) => string);
  };
  /** Most in one message. */
  readonly buttons?: number;
  readonly edit?: boolean;
  readonly remove?: boolean;
  readonly react?: boolean;
  readonly threads?: boolean;
  readonly replies?: boolean;
  /** A message for one person's eyes in a group. */
  readonly only?: boolean;
  readonly typing?: boolean;
  readonly files?: {
    readonly maxBytes: number;
    /** Media types that it takes; others come as links. Left out: all. */
    readonly types?: readonly string[];
    /**
     * Pure: of a post with this text, which files go with it in one call, and which in calls of their own: each such call is a send of its
     * own, so that a crash repeats one of them at most. Left out: all go with the text.
     */
    readonly apart?: (text: string, files: readonly FileRef[]) => FilesApart;
    /** It fetches them itself (`link.fileUrl`), over https alone: without such an address they are what is not taken. */
    readonly byLink?: true;
  };
  /** Drops a second call with the same key: always, or so long after the first. Behind that time it is a `repeat`. */
  readonly idempotent?: boolean | { readonly forMs: number };
}

/** In which calls the files of a post go, in order. */
export interface FilesApart {
  readonly withText: readonly FileRef[];
  readonly behind: readonly (readonly FileRef[])[];
}

/** One account, while its generation lives. */
export interface Link<A> {
  readonly account: A;
  readonly endpoint: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The last cursor that was stored. */
  readonly cursor: string | undefined;
  /** Tells the host that the connection stands; again after `degraded`: that all of it works. */
  online(): void;
  /** Tells the host that the connection stands and takes sends, but not all of it works. */
  degraded(reason: string): void;
  /**
   * Takes the WebSockets that the platform opens to this account (`webhook.socket`), those included that came while there was no
   * connection: one that comes begins a connection, without the wait of a first failure.
   */
  accept(take: (socket: PlatformSocket) => void): void;
  receive(arrivals: readonly Arrival[], cursor?: string): Promise<void>;
  /** The bytes of a file that a send names, wherever it came from. */
  readFile(file: FileRef): Promise<Uint8Array<ArrayBuffer>>;
  /** The same without having it in memory: what a platform takes as a stream goes to it from the disk. */
  openFile(file: FileRef): Promise<FileContent>;
  /**
   * A signed link to it, for platforms that fetch what they show: whoever has it may read that file, for `files.linkHours`. Undefined where
   * the host has no address (`http.publicUrl`), and for a file that lies on a platform.
   */
  fileUrl(file: FileRef): string | undefined;
  /** `files.maxFileBytes`: of what `fetchFile` gives the host reads no more. */
  readonly maxFileBytes: number;
}

/** A file that is about to be read. */
export interface FileContent {
  /** How many they are; undefined where nobody knows before the end. */
  readonly bytes: number | undefined;
  /** From the beginning; each call reads again. Throws on the way when there are more than `files.maxFileBytes`. */
  content(): AsyncIterable<Uint8Array>;
}

interface ArrivalBase {
  /** The platform's id of this delivery: taken once. */
  readonly id: string;
  readonly conversation: Omit<Conversation, 'endpoint'>;
  /** self: our own, dropped. */
  readonly user: Omit<User, 'endpoint'> & { readonly self?: boolean };
  readonly sentAt: number;
}
/** What a delivery of a platform holds, one thing that happened there. Plain JSON: it is stored as it is. */
export type Arrival = ArrivalBase &
  (
    | {
        readonly kind: 'message' | 'edited';
        readonly message: string;
        /** The endpoint of a person who is mentioned may be empty: the host puts in the account's own. */
        readonly text: string | readonly Segment[];
        readonly replyTo?: string;
        /** Said to the bot: it is mentioned, or answered. In private conversations the host knows. Its own name at the beginning is not part of the text. */
        readonly addressed?: boolean;
        readonly files?: readonly FileRef[];
      }
    | { readonly kind: 'deleted'; readonly message: string }
    | {
        readonly kind: 'command';
        readonly name: string;
        readonly args: Readonly<Record<string, unknown>>;
        /** What was typed behind the name, where the platform reads no arguments itself: taken instead of args. */
        readonly line?: string;
      }
    | { readonly kind: 'pressed'; readonly message: string; readonly token: string }
    | { readonly kind: 'other'; readonly type: string; readonly raw: unknown }
    | { readonly kind: 'reaction'; readonly message: string; readonly emoji: string; readonly on: boolean }
    | { readonly kind: 'member'; readonly who: string; readonly change: 'joined' | 'left' }
  );

interface OutgoingBase {
  /** The same on each attempt. */
  readonly key: string;
  /** An attempt before this one may have reached the platform. Never set where `can.idempotent`, but behind its time. */
  readonly repeat?: true;
  /** With `repeat`, for who looks for what that attempt has made. */
  readonly search?: {
    /** It is not older: when the send was stored, epoch ms by the host's clock. */
    readonly from: number;
    /** It is none of these: the platform's ids of what other sends of the conversation have made, the newest first. */
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
        /** One that came from this account has the platform's own id; the bytes of any come from `link.openFile` and `link.readFile`. */
        readonly files: readonly FileRef[];
        readonly replyTo?: string;
        readonly only?: string;
      }
    | { readonly kind: 'remove'; readonly message: string }
    | { readonly kind: 'react'; readonly message: string; readonly emoji: string; readonly on: boolean }
    | { readonly kind: 'typing' }
  );

/**
 * What came of one call. `later`: again after that time, and with `account` no other send of this account before it either, or
 * before `accountMs` where the account is to wait for less;
 * `refused`: never, a dead letter. A throw: nobody knows.
 */
export type SendResult =
  | { readonly kind: 'sent'; readonly message?: string }
  | { readonly kind: 'later'; readonly afterMs: number; readonly account?: true; readonly accountMs?: number }
  | { readonly kind: 'refused'; readonly reason: string };

/** A command as `announce` gets it. */
export interface CommandInfo {
  readonly name: string;
  readonly summary: string;
  readonly args: TObject;
}

/** All that the host asks of a platform; what is optional and left out, the platform does not have. */
export interface AdapterDefinition<A extends TProperties> {
  readonly name: string;
  /** Keys of one endpoints[] entry. */
  readonly account: A;
  readonly can: Can;
  /** Where the limiter starts; Retry-After wins. */
  readonly rate?: {
    readonly perSecond?: number;
    readonly perConversation?: { readonly count: number; readonly perMs: number };
  };
  readonly webhook?: {
    verify(r: RawRequest, account: Values<A>): Verdict;
    parse(r: RawRequest, account: Values<A>): readonly Arrival[];
    /**
     * Pure: for platforms that ask the address by GET whether it is theirs (`hub.challenge`). Answered or refused, never stored. Left
     * out: a GET is 405.
     */
    challenge?(r: RawRequest, account: Values<A>): Exclude<Verdict, { readonly kind: 'ok' }>;
    /** Pure: what the platform wants to hear once its delivery is stored. Left out: 200 with the number of new ones and repeats. */
    answer?(r: RawRequest, account: Values<A>): HttpAnswer;
    /** Largest body that the platform sends. Default 1 MiB. */
    readonly maxBytes?: number;
    /** For platforms that open a WebSocket to the address. Left out: an upgrade is not taken there. */
    readonly socket?: {
      /** Pure: of the request to upgrade. What is refused is 401; `status: 403` for who is known and may not. */
      verify(r: RawRequest, account: Values<A>): Verdict;
      /** Largest message. Default 1 MiB. */
      readonly maxBytes?: number;
      /** Pure: false for an account to which none is opened. Left out: true. */
      takes?(account: Values<A>): boolean;
    };
    /** Pure: false for an account that is set to another way (polling, a socket); it has no address then. Left out: true. */
    takes?(account: Values<A>): boolean;
    /**
     * For platforms with an API for it: tells the platform to deliver there, with what `verify` asks for. Again with the same address
     * changes nothing. Resolves to what was done, a line for the operator; throws with the platform's reason.
     */
    register?(url: string, link: Link<Values<A>>): Promise<string>;
  };
  /**
   * Pure: what keeps an account with these keys from working at all, as nobody has to be asked to know, and what helps. `svc config check`
   * tells it; `connect` refuses the same with `accountFailed`.
   */
  fault?(account: Values<A>): { readonly reason: string; readonly remedy: string } | undefined;
  connect?(link: Link<Values<A>>): Promise<void>;
  /** Each time the endpoint comes up: pulls what came after link.cursor. */
  catchUp?(link: Link<Values<A>>): Promise<void>;
  send(call: Outgoing, link: Link<Values<A>>): Promise<SendResult>;
  /**
   * Pure: the conversation in which this person alone reads what the bot says, under the id with which arrivals name it. What is
   * for one person goes there. Left out: the platform has none, or none that can be named without asking it.
   */
  direct?(user: string): string;
  /**
   * For platforms with command menus: when the account comes up, and after the commit of a generation with other commands. What is
   * for operators alone is not in the list.
   */
  announce?(commands: readonly CommandInfo[], link: Link<Values<A>>): Promise<void>;
  /** The bytes of a file that came with an arrival of this account, by the id that it had there. */
  fetchFile?(file: FileRef, link: Link<Values<A>>): Promise<ReadableStream<Uint8Array>>;
  /**
   * `svc doctor --endpoint`: asks the platform about this account, without a connection and without changing anything there, and gives one
   * finding after the other. Who the token is of, what it may not do, the clocks, where webhooks go, how the last delivery ended.
   */
  check?(account: Values<A>, tools: CheckTools): AsyncIterable<CheckResult>;
}

/** What a module of an adapter exports by default: plain marked data. */
export interface AdapterModule {
  readonly name: string;
}

/** Marks a definition for the host, and gives its functions their types. Export the result as default. */
export function defineAdapter<A extends TProperties>(adapter: AdapterDefinition<A>): AdapterModule {
  return markDefinition('adapter', adapter);
}
