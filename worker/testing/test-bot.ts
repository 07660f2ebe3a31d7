// A whole bot in memory: the real inbox, handlers, outbox and timer, a clock that the test moves, a platform that can what the test
// says, and a process that may be killed at any point.
import type { Arrival, Can } from '../sdk/adapter.ts';
import type { FileRef, Rich } from '../sdk/message.ts';
import type { PluginModule } from '../sdk/plugin.ts';
import type { HeaderMap, HttpAnswer, RawRequest } from '../sdk/request.ts';
import { startBot } from './start-bot.ts';

/** What is around the plugin. */
export interface TestBotOptions {
  /** Keys of the plugin; with several plugins, keys by slot. */
  readonly config?: Record<string, unknown>;
  /** What the fake platform lacks or limits; otherwise it has everything. */
  readonly can?: Partial<Can>;
  /** False: the bot cannot begin a private conversation, `dm-<person>`. */
  readonly direct?: boolean;
  /** Files that lie on the fake platform, by the id that arrivals name. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** Parts of the host that plugins name in `uses`. */
  readonly parts?: Record<string, unknown>;
  /** Default 2026-01-01T12:00:00Z. */
  readonly startAt?: string;
}

/** Somebody who chats with the bot. */
export interface Person {
  /** As a person types it; a mention is what `md` makes of `mention(…)`. */
  says(text: string | Rich, o?: { readonly delivery?: string; readonly addressed?: boolean }): Promise<void>;
  /** The newest button there whose label begins so. */
  presses(label: string): Promise<void>;
}

/** A message of the bot, as it lies on the platform now. */
export interface ShownMessage {
  readonly id: string;
  readonly text: string;
  /** Their labels. */
  readonly buttons: readonly string[];
  readonly files: readonly FileRef[];
  /** Of the bot itself. */
  readonly reactions: readonly string[];
  /** Ids of messages. */
  readonly thread?: string;
  readonly replyTo?: string;
  /** The id of the person who alone sees it. */
  readonly only?: string;
}

/** The bot, its platform and its clock, in the hands of a test. */
export interface TestBot {
  /** `advance` stops at each moment at which something is due. */
  readonly clock: { now(): number; advance(by: string | number): Promise<void> };
  help(): string;
  /** Items that ended as dead letters. */
  dead(): string[];
  stop(): Promise<void>;
  /** Who writes, in private or `in` a room. An admin is an operator too. */
  person(name: string, o?: { readonly in?: string; readonly admin?: boolean }): Person;
  /** What an adapter would hand in; a redelivery has the same id. */
  arrive(arrival: Arrival): Promise<void>;
  /** A request to a webhook of a plugin, `<slot>/<name>`. Names of headers in any case. */
  post(path: string, request: { readonly headers?: HeaderMap; readonly body: string }): Promise<HttpAnswer>;
  /**
   * Tools and routes, by capability id: `root/<slot>#tool/<name>`, `root/<slot>#route/GET /items`. The input of a route is its body as
   * JSON, left out: none; its answer has the status. Rejects with what is wrong where a host would answer with a problem.
   */
  call(capability: string, input?: unknown, request?: Partial<Pick<RawRequest, 'headers' | 'query'>>): Promise<unknown>;
  due(slot: string, cron: string, at: number): Promise<void>;
  /** What people see there now, edits applied, oldest first. */
  shown(conversation: string): string[];
  /** The same with what belongs to each. */
  messages(conversation: string): readonly ShownMessage[];
  /**
   * What the plugins count and gauge, under the names of `/api/metrics`: `svc_plugin_<slot>_<name>`, counters with `_total` and
   * `{label="value"}`. Counters begin anew with a process. Reactions that the platform lacks are there too, once there was one:
   * `svc_reactions_dropped_total{endpoint="root/fake:fake"}`.
   */
  metrics(): Promise<Record<string, number>>;
  /** Points passed in this bot's life, in order. */
  readonly points: string[];
  readonly logs: unknown[];
  /** A new process on the same disk, perhaps with other code. */
  restart(plugin?: PluginModule): Promise<void>;
  /** SIGKILL at that point's next pass, then a restart. */
  crashAfter(point: string): void;
}

/** Starts a plugin, or several by slot, on an empty disk. */
export async function testBot(
  plugins: PluginModule | Record<string, PluginModule>,
  options: TestBotOptions = {},
): Promise<TestBot> {
  return startBot(plugins, options);
}
