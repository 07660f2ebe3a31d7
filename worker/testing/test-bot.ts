// A whole bot in memory: the real inbox, handlers, outbox and timers. The test moves the clock, chooses the features of the platform, and may kill
// the process at any point.
import type { Arrival, Can } from '../sdk/adapter.ts';
import type { FileRef, Rich } from '../sdk/message.ts';
import type { PluginModule } from '../sdk/plugin.ts';
import type { HeaderMap, HttpAnswer, RawRequest } from '../sdk/request.ts';
import type { WorkItem, WorkRole } from '../sdk/workroom.ts';
import { startBot } from './start-bot.ts';

/** Options of a test bot. */
export interface TestBotOptions {
  /** Keys of the plugin. With several plugins: keys by slot. */
  readonly config?: Record<string, unknown>;
  /** Overrides of the fake platform's features. By default it has all of them. */
  readonly can?: Partial<Can>;
  /** False: the bot cannot start a private conversation, `dm-<person>`. */
  readonly direct?: boolean;
  /** Files on the fake platform, by the id that arrivals name. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** Optional parts of the host that plugins name in `uses`. */
  readonly parts?: Record<string, unknown>;
  /** A board, for plugins that name `workroom` in `uses`. */
  readonly workroom?: TestWorkroom;
  /** Start of the clock, ISO 8601. Default 2026-01-01T12:00:00Z. */
  readonly startAt?: string;
}

/** The Workroom of a test bot. A member is the person of that name. */
export interface TestWorkroom {
  readonly boards: Readonly<
    Record<
      string,
      {
        readonly members: Readonly<Record<string, WorkRole>>;
        /** Rooms that are bound to the board. */
        readonly conversations?: readonly string[];
        /** False: a submitted item is done. Default true. */
        readonly review?: boolean;
      }
    >
  >;
}

/** A person who chats with the bot. */
export interface Person {
  /** Sends a text as typed. For a mention, pass `md` with `mention(…)`. */
  says(
    text: string | Rich,
    o?: {
      readonly delivery?: string;
      readonly addressed?: boolean;
      /** Id of the message that it replies to: `bot.messages('room').at(-1)?.id`. */
      readonly replyTo?: string | undefined;
    },
  ): Promise<void>;
  /** Presses the newest button in the conversation whose label begins with `label`. */
  presses(label: string): Promise<void>;
}

/** A message of the bot, in its current state on the platform. */
export interface ShownMessage {
  readonly id: string;
  readonly text: string;
  /** Labels of the buttons. */
  readonly buttons: readonly string[];
  readonly files: readonly FileRef[];
  /** The bot's own reactions. */
  readonly reactions: readonly string[];
  /** Id of the thread's first message. */
  readonly thread?: string;
  /** Id of the message that it replies to. */
  readonly replyTo?: string;
  /** The id of the only person who sees it. */
  readonly only?: string;
}

/** A bot with its platform and its clock. */
export interface TestBot {
  /** `advance` stops at each time at which something is due, and waits until the bot is idle. */
  readonly clock: { now(): number; advance(by: string | number): Promise<void> };
  help(): string;
  /** Ids of items that became dead letters. */
  dead(): string[];
  stop(): Promise<void>;
  /** A person who writes in private, or `in` a room. An admin is an operator too. */
  person(name: string, o?: { readonly in?: string; readonly admin?: boolean }): Person;
  /** Delivers an arrival, as an adapter would. A redelivery has the same id. */
  arrive(arrival: Arrival): Promise<void>;
  /** Posts to a webhook of a plugin, `<slot>/<name>`. Header names are in any case. */
  post(path: string, request: { readonly headers?: HeaderMap; readonly body: string }): Promise<HttpAnswer>;
  /**
   * Calls a tool or a route by its capability id: `root/<slot>#tool/<name>`, `root/<slot>#route/GET /items`. The input of a route is its JSON body;
   * left out: none. The result of a route is an answer with its status. Rejects with the error that a host would answer as a problem.
   */
  call(capability: string, input?: unknown, request?: Partial<Pick<RawRequest, 'headers' | 'query'>>): Promise<unknown>;
  /** Makes a cron handler due at `at`, epoch milliseconds. */
  due(slot: string, cron: string, at: number): Promise<void>;
  /** Texts of the visible messages, oldest first. Edits are applied. */
  shown(conversation: string): string[];
  /** The visible messages, oldest first, with buttons, files and reactions. */
  messages(conversation: string): readonly ShownMessage[];
  /**
   * Counters and gauges of the plugins, under the names of `/api/metrics`: `svc_plugin_<slot>_<name>`, counters with `_total` and
   * `{label="value"}`. Counters start at 0 in each process. Once a reaction was dropped because the platform has none, it is counted in
   * `svc_reactions_dropped_total{endpoint="root/fake:fake"}`.
   */
  metrics(): Promise<Record<string, number>>;
  /** Items of the board, the last changed first, also those that have ended. */
  items(): Promise<readonly WorkItem[]>;
  /** Points that the bot passed, in order. */
  readonly points: string[];
  readonly logs: unknown[];
  /** Starts a new process on the same disk, optionally with another version of a plugin. */
  restart(plugin?: PluginModule): Promise<void>;
  /** Kills the process at the next pass of that point, then restarts it. */
  crashAfter(point: string): void;
}

/** Starts a bot with one plugin, or several by slot, on an empty disk. */
export async function testBot(
  plugins: PluginModule | Record<string, PluginModule>,
  options: TestBotOptions = {},
): Promise<TestBot> {
  return startBot(plugins, options);
}
