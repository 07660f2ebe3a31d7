// A plugin: a name, the schema of its configuration, and `setup`, which registers what it does.
//
//   P1  `setup` only registers: no I/O, 5 s. It runs for each generation, and for help, doctor and `--once --mode test`.
//   P2  What a method registers is a capability, root/<slot>#<kind>/<name>, served from the commit of its generation to its retirement.
//   P3  Every handler is `(ctx, input)`, every definition `(name, spec, run)`; types come from the schema beside the handler.
import type { Static, TProperties, TSchema, TUnsafe } from 'typebox';
import type { AgentTool } from './agent-tool.ts';
import { markDefinition } from './definition-mark.ts';
import type { Action, Counter, Dialog, EventType, State, Task } from './handle.ts';
import type { ChatCtx, Ctx, Logger } from './handler-context.ts';
import type { Body, Inbound } from './message.ts';
import type { Options } from './options.ts';
import type { Parts } from './parts.ts';
import type { HeaderMap, HttpAnswer, RawRequest, Verdict } from './request.ts';
import type { Values } from './schema/schema.ts';

// biome-ignore lint/suspicious/noConfusingVoidType: a handler may simply not answer.
export type Reply = Body | void | Promise<Body | void>;
/** For handlers that answer nobody. */
export type Done = void | Promise<void>;

/** What is said of a command: for its reader, its help and the menus of platforms. */
export interface CommandSpec<A extends TProperties> extends Options {
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** admin: of the conversation, as the platform says; operator: listed in `commands.operators`. Default 'anyone'. */
  readonly who?: 'anyone' | 'admin' | 'operator';
  /** Must parse, or assembly fails. */
  readonly examples?: readonly string[];
  /** In order of writing, or by name (`--in 10m`); booleans by name. */
  readonly args?: A;
  /** Mean the command when the bot is spoken to: 'remind me in {in} to {text}'. */
  readonly phrases?: readonly string[];
}

/** Which events of its kind a handler of `p.on` gets; without a key all of them. */
export interface Match extends Options {
  /** What it is called in ids; default: its kind and what it matches. Named, it stays the same handler when what it matches changes. */
  readonly name?: string;
  /** The whole text, or a pattern; its named groups are `ctx.groups`. */
  readonly text?: string | RegExp;
  readonly where?: 'private' | 'group';
  /** Only what is said to the bot. */
  readonly addressed?: boolean;
  /** 'before' claims, 'normal' (default) or 'after' when nobody claimed. */
  readonly order?: 'before' | 'normal' | 'after';
}

/** A question for each answer, in order: its title asks, its schema checks and makes the buttons. What comes next is computed from what is known. */
export interface DialogSpec<A extends TProperties> extends Options {
  readonly answers: A;
  /** Default 24 h. */
  readonly expiresMs?: number;
  readonly steps?: { readonly [K in keyof A]?: DialogStep<A, K> };
}

/** One question of a dialog, where its schema does not say it all. */
export interface DialogStep<A extends TProperties, K extends keyof A> {
  ask?(known: Partial<Values<A>>, ctx: ChatCtx): Body | Promise<Body>;
  /** False: the question is not asked. */
  when?(known: Partial<Values<A>>): boolean;
  /** What is wrong with an answer that fits the schema. */
  check?(answer: Static<A[K]>, ctx: ChatCtx): string | undefined | Promise<string | undefined>;
}

/** The data that a task carries, and its order. */
export interface TaskSpec<D extends TProperties> extends Options {
  readonly data: D;
  /** Tasks of one lane keep their order. */
  lane?(data: Values<D>): string;
}

/** When a cron handler runs. */
export interface CronSpec extends Options {
  /** A cron expression of five fields. */
  readonly at: string;
  /** IANA name; default `schedule.timezone`. */
  readonly timezone?: string;
  /** What was due while nothing ran. Default 'run_once'. */
  readonly missed?: 'skip' | 'run_once';
}

/** How deliveries of a foreign service are verified, told apart and read. */
export interface WebhookSpec<S extends TSchema> extends Options {
  verify(request: RawRequest): Verdict;
  /** The sender's id of this delivery: it is taken once. Without one, the bytes of the body are the id. */
  delivery(request: RawRequest): string | undefined;
  /** False: answered well, and ignored. */
  accept?(request: RawRequest): boolean;
  readonly body: S;
  /** Deliveries of one lane keep their order. */
  lane?(body: Static<S>): string;
}

/** Who may ask a route, and with which body. */
export interface RouteSpec<S extends TSchema> extends Options {
  /** Which token it takes; 'none': anybody may ask. Default 'full'. */
  readonly scope?: 'none' | 'demo' | 'full';
  readonly body?: S;
}

/** What a subscriber can no longer get. */
export interface MissedEvents {
  /** Events of all types that are gone: at most so many of its own type are missing. */
  readonly atMost: number;
}

/** What a subscriber does besides handling events. */
export interface SubscribeSpec<X> extends Options {
  /**
   * The history was trimmed (`events.history`) further than this subscriber had come: it was not there, or its host was not. Called
   * once for each gap, in its place in the order; without it a gap is a line of log and the event `subscription.gap` alone.
   */
  missed?(ctx: Ctx & X, gap: MissedEvents): Done;
}

/** Whose a state is, and what it holds. */
export interface StateSpec<S extends TSchema> {
  readonly scope: 'plugin' | 'conversation' | 'user';
  readonly value: S;
  /** From a stored value that does not fit the schema any more. */
  upgrade?(old: unknown): Static<S>;
}

/** `p` of `setup`: the methods register, and throw once `setup` has returned. Names are unique by kind in a plugin. */
export interface Setup<C, X> {
  readonly slot: string;
  readonly config: Readonly<C>;
  readonly log: Logger;
  /** Aborts at retirement, after the last handler: what was not registered through `p` listens here. */
  readonly signal: AbortSignal;
  command<A extends TProperties = {}>(
    name: string,
    spec: CommandSpec<A>,
    run: (ctx: ChatCtx & X, args: Values<A>) => Reply,
  ): void;
  on<K extends keyof Inbound>(kind: K, match: Match, run: (ctx: ChatCtx & X, event: Inbound[K]) => Reply): void;
  /** What a button does. */
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
  /** Work for now or later. */
  task<D extends TProperties>(
    name: string,
    spec: TaskSpec<D>,
    run: (ctx: Ctx & X, data: Values<D>) => Done,
  ): Task<Values<D>>;
  cron(name: string, spec: CronSpec, run: (ctx: Ctx & X, due: number) => Done): void;
  /** POST /webhooks/<slot>/<name>: verified over raw bytes, stored once per delivery id, answered 202, then handled like any item. */
  webhook<S extends TSchema>(
    name: string,
    spec: WebhookSpec<S>,
    run: (ctx: Ctx & X, call: { readonly body: Static<S>; readonly headers: HeaderMap }) => Done,
  ): void;
  /** <base>/plugins/<slot>/…, answered after the commit. */
  route<S extends TSchema = TUnsafe<undefined>>(
    path: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
    spec: RouteSpec<S>,
    run: (ctx: Ctx & X, request: RawRequest & { readonly json: Static<S> }) => HttpAnswer | Promise<HttpAnswer>,
  ): void;
  /** Facts of host and plugins from the event history, in order, at least once; a new subscriber begins with what happens next. */
  subscribe<D>(event: EventType<D>, run: (ctx: Ctx & X, data: D) => Done, spec?: SubscribeSpec<X>): void;
  tool<I extends TProperties, O>(tool: AgentTool<I, O, X>): void;
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  counter<const L extends Record<string, readonly string[]> = {}>(
    name: string,
    help: string,
    labels?: L,
  ): Counter<{ -readonly [K in keyof L]: L[K][number] }>;
  state<S extends TSchema>(name: string, spec: StateSpec<S>): State<Static<S>>;
  /** Opened at activation (failing keeps the old generation), closed in reverse. */
  resource<R>(name: string, open: (signal: AbortSignal) => Promise<R>, close: (resource: R) => Done): () => R;
}

/** All that the host asks of a plugin. */
export interface PluginSpec<C extends TProperties, U extends keyof Parts> {
  readonly name: string;
  /** Keys of plugins.<slot>, checked before setup: exit 78 with file:line:column. */
  readonly config?: C;
  /** Optional parts of the host, then on ctx; one that is not configured is refused at assembly. */
  readonly uses?: readonly U[];
  setup(p: Setup<Values<C>, Pick<Parts, U>>): Done;
}

/** What a module of a plugin exports by default: plain marked data. */
export interface PluginModule {
  readonly name: string;
}

/** Marks a plugin for the host, and gives `setup` its types. Export the result as default. */
export function definePlugin<C extends TProperties = {}, const U extends keyof Parts = never>(
  plugin: PluginSpec<C, U>,
): PluginModule {
  return markDefinition('plugin', plugin);
}
