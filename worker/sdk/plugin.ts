// A plugin is a name, the schema of its configuration, and `setup`, which registers handlers.
//
//   PLUGIN-1  `setup` only registers: no I/O, at most 5 s. It runs for each generation, and for help, doctor and `--once --mode test`.
//   PLUGIN-2  A method registers a capability, `root/<slot>#<kind>/<name>`. It is served from the commit of its generation to its retirement.
//   PLUGIN-3  Every handler is `(ctx, input)`, every definition `(name, spec, run)`. Types come from the schema beside the handler.
import type { Static, TProperties, TSchema, TUnsafe } from 'typebox';
import type { AgentTool } from './agent-tool.ts';
import { markDefinition } from './definition-mark.ts';
import type { Action, Counter, Dialog, EventType, State, Task } from './handle.ts';
import type { ChatCtx, Ctx, Logger } from './handler-context.ts';
import type { Body, ConversationRef, Inbound } from './message.ts';
import type { Options } from './options.ts';
import type { Parts } from './parts.ts';
import type { HeaderMap, HttpAnswer, RawRequest, Verdict } from './request.ts';
import type { Values } from './schema/schema.ts';
import type { Language } from './text/texts.ts';

// biome-ignore lint/suspicious/noConfusingVoidType: a handler may simply not answer.
export type Reply = Body | void | Promise<Body | void>;
/** The result of a handler that has no reply. */
export type Done = void | Promise<void>;

/** The description of a command: for its parser, its help and the menus of platforms. */
export interface CommandSpec<A extends TProperties> extends Options {
  readonly summary: string;
  /** Other names. One of several words (`remind list`) comes before a command that its first word names. */
  readonly aliases?: readonly string[];
  /** 'admin': an admin of the conversation on its platform. 'operator': a user listed in `commands.operators`. Default 'anyone'. */
  readonly who?: 'anyone' | 'admin' | 'operator';
  /** Example lines. Each must parse, or assembly fails. */
  readonly examples?: readonly string[];
  /**
   * Typed in the order written here, or by name (`--in 10m`). Booleans and `t.option` are typed by name only, and so is what stands behind an
   * argument that takes the rest of the line.
   */
  readonly args?: A;
  /** Sentences that run the command if the bot is addressed: 'remind me in {in} to {text}'. */
  readonly phrases?: readonly string[];
}

/** Filters the events of a kind for a handler of `p.on`. Without keys the handler gets all of them. */
export interface Match extends Options {
  /** The handler's name in ids. Default: its kind and its match. With a name, the id stays the same when the match changes. */
  readonly name?: string;
  /** The whole text, or a pattern. The pattern's named groups are in `ctx.groups`. */
  readonly text?: string | RegExp;
  readonly where?: 'private' | 'group';
  /** True: only messages addressed to the bot. */
  readonly addressed?: boolean;
  /** 'before' runs first and may claim the event. 'normal' (default) and 'after' follow, if no handler claimed it. */
  readonly order?: 'before' | 'normal' | 'after';
}

/**
 * A dialog asks one question for each answer, in order. The title of an answer is the question; its schema checks the reply and makes the buttons.
 * The next question is computed from the answers so far.
 */
export interface DialogSpec<A extends TProperties> extends Options {
  readonly answers: A;
  /** Milliseconds until an open dialog ends. Default 24 h. */
  readonly expiresMs?: number;
  readonly steps?: { readonly [K in keyof A]?: DialogStep<A, K> };
}

/** Overrides for one question of a dialog. */
export interface DialogStep<A extends TProperties, K extends keyof A> {
  ask?(known: Partial<Values<A>>, ctx: ChatCtx): Body | Promise<Body>;
  /** False: the question is skipped. */
  when?(known: Partial<Values<A>>): boolean;
  /** Returns the fault of an answer that fits the schema, or undefined. */
  check?(answer: Static<A[K]>, ctx: ChatCtx): string | undefined | Promise<string | undefined>;
}

/** The data of a task, and its order. */
export interface TaskSpec<D extends TProperties> extends Options {
  readonly data: D;
  /** The lane of a task. Tasks of one lane run in order. */
  lane?(data: Values<D>): string;
}

/** The schedule of a cron handler. */
export interface CronSpec extends Options {
  /** A cron expression of five fields. */
  readonly at: string;
  /** IANA name of a time zone. Default `schedule.timezone`. */
  readonly timezone?: string;
  /** Runs that were due while the host was down: skip them all, or run once. Default 'run_once'. */
  readonly missed?: 'skip' | 'run_once';
}

/** Verifies, deduplicates and parses deliveries of an external service. */
export interface WebhookSpec<S extends TSchema> extends Options {
  verify(request: RawRequest): Verdict;
  /** The sender's id of this delivery. Each id is handled once. Without an id, the bytes of the body are the id. */
  delivery(request: RawRequest): string | undefined;
  /** False: the host answers with success and ignores the delivery. */
  accept?(request: RawRequest): boolean;
  readonly body: S;
  /** The lane of a delivery. Deliveries of one lane are handled in order. */
  lane?(body: Static<S>): string;
}

/** Access to a route, and the schema of its body. */
export interface RouteSpec<S extends TSchema> extends Options {
  /** The scope of the token that a request needs. 'none': no token. Default 'full'. */
  readonly scope?: 'none' | 'demo' | 'full';
  readonly body?: S;
}

/** Events that a subscriber can no longer receive. */
export interface MissedEvents {
  /** The number of trimmed events of all types. The subscriber's own type lost at most this many. */
  readonly atMost: number;
}

/** Options of a subscriber. */
export interface SubscribeSpec<X> extends Options {
  /**
   * The history was trimmed (`events.history`) beyond this subscriber's position, while the subscriber or its host was down. Called once for each
   * gap, in order with the events. Left out: a gap only makes a log line and the event `subscription.gap`.
   */
  missed?(ctx: Ctx & X, gap: MissedEvents): Done;
}

/** The owner of a state, and the schema of its values. */
export interface StateSpec<S extends TSchema> {
  readonly scope: 'plugin' | 'conversation' | 'user';
  readonly value: S;
  /** Converts a stored value that no longer fits the schema. */
  upgrade?(old: unknown): Static<S>;
}

/** The argument `p` of `setup`. Its methods register handlers, and throw once `setup` has returned. Names are unique by kind in a plugin. */
export interface Setup<C, X> {
  readonly slot: string;
  readonly config: Readonly<C>;
  readonly log: Logger;
  /** Aborts when the generation is retired, after its last handler. Use it to stop work that was not registered through `p`. */
  readonly signal: AbortSignal;
  command<A extends TProperties = {}>(
    name: string,
    spec: CommandSpec<A>,
    run: (ctx: ChatCtx & X, args: Values<A>) => Reply,
  ): void;
  on<K extends keyof Inbound>(kind: K, match: Match, run: (ctx: ChatCtx & X, event: Inbound[K]) => Reply): void;
  /** Handles a press of a button. */
  action<D extends TProperties>(
    name: string,
    spec: Options & { readonly data: D },
    run: (ctx: ChatCtx & X, data: Values<D>) => Reply,
  ): Action<Values<D>>;
  dialog<A extends TProperties>(
    name: string,
    spec: DialogSpec<A>,
    run: (ctx: ChatCtx & X, answers: Values<A>) => Reply,
  ): Dialog<Partial<Values<A>>>;
  /** Handles work that `ctx.schedule` makes due now or later. */
  task<D extends TProperties>(
    name: string,
    spec: TaskSpec<D>,
    run: (ctx: Ctx & X, data: Values<D>) => Done,
  ): Task<Values<D>>;
  cron(name: string, spec: CronSpec, run: (ctx: Ctx & X, due: number) => Done): void;
  /** POST /webhooks/<slot>/<name>: verified over raw bytes, stored once per delivery id, answered with 202, then handled like any item. */
  webhook<S extends TSchema>(
    name: string,
    spec: WebhookSpec<S>,
    run: (ctx: Ctx & X, call: { readonly body: Static<S>; readonly headers: HeaderMap }) => Done,
  ): void;
  /** Serves <base>/plugins/<slot>/…; the answer is sent after the commit. */
  route<S extends TSchema = TUnsafe<undefined>>(
    path: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
    spec: RouteSpec<S>,
    run: (ctx: Ctx & X, request: RawRequest & { readonly json: Static<S> }) => HttpAnswer | Promise<HttpAnswer>,
  ): void;
  /** Events of host and plugins from the event history, in order, at least once. A new subscriber starts with the next event. */
  subscribe<D>(event: EventType<D>, run: (ctx: Ctx & X, data: D) => Done, spec?: SubscribeSpec<X>): void;
  tool<I extends TProperties, O>(tool: AgentTool<I, O, X>): void;
  /** Chooses the language of the host's own texts in a conversation. Undefined leaves it to the next plugin, then to `host.language`. */
  language(of: (conversation: ConversationRef) => Language | undefined): void;
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  counter<const L extends Record<string, readonly string[]> = {}>(
    name: string,
    help: string,
    labels?: L,
  ): Counter<{ -readonly [K in keyof L]: L[K][number] }>;
  state<S extends TSchema>(name: string, spec: StateSpec<S>): State<Static<S>>;
  /** Opened when the generation is activated; if opening fails, the old generation stays. Resources are closed in reverse order. */
  resource<R>(name: string, open: (signal: AbortSignal) => Promise<R>, close: (resource: R) => Done): () => R;
}

/** Everything that the host asks of a plugin. */
export interface PluginSpec<C extends TProperties, U extends keyof Parts> {
  readonly name: string;
  /** Keys of `plugins.<slot>`, checked before `setup`. A fault ends the start with exit code 78 and names file:line:column. */
  readonly config?: C;
  /** Optional parts of the host to put on `ctx`. Assembly fails if a part is not configured. */
  readonly uses?: readonly U[];
  setup(p: Setup<Values<C>, Pick<Parts, U>>): Done;
}

/** The default export of a plugin's module: plain data with a mark. */
export interface PluginModule {
  readonly name: string;
}

/** Marks a plugin for the host, and types `setup`. Export the result as default. */
export function definePlugin<C extends TProperties = {}, const U extends keyof Parts = never>(
  plugin: PluginSpec<C, U>,
): PluginModule {
  return markDefinition('plugin', plugin);
}
