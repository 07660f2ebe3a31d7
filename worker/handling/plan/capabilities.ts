// Capabilities of one generation: everything that its plugins registered, found by id, kind and former name.
//
//   CAPABILITIES-1  Ids are stable: root/<slot>#<kind>/<name>. An id that is defined twice fails the assembly.
//   CAPABILITIES-2  Data of a handler is kept under its oldest name, the first in `formerly`. An attempt begun under a former name continues.
//   CAPABILITIES-3  Handlers are ordered by slot in the configuration, then by registration.
import type { TProperties, TSchema } from 'typebox';
import { type CapabilityId, capabilityId, ownerOf } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { ChatCtx, CommandSpec, Ctx, DialogSpec, Match, Options, RawRequest, Verdict } from '../../sdk/index.ts';

export type Run = (ctx: Ctx & ChatCtx, input: never) => unknown;

interface Base<K extends string, S> {
  readonly id: CapabilityId;
  /** The id under which attempts, results and keys are kept across versions of the code: its oldest name. */
  readonly keptAs: CapabilityId;
  readonly kind: K;
  readonly slot: string;
  readonly name: string;
  readonly spec: S;
  readonly run: Run;
  /** Position in the order of handlers. */
  readonly place: number;
  /** Optional parts of the host that the plugin asked for. */
  readonly uses: readonly string[];
}

export interface WebhookSpec extends Options {
  readonly verify: (request: RawRequest) => Verdict;
  readonly delivery: (request: RawRequest) => string | undefined;
  readonly accept?: (request: RawRequest) => boolean;
  readonly body: TSchema;
  readonly lane?: (body: never) => string;
}
export interface RouteSpec extends Options {
  readonly scope: 'none' | 'demo' | 'full';
  readonly body?: TSchema;
  readonly method: string;
  readonly path: string;
}
export interface DataSpec extends Options {
  readonly data: TProperties;
  readonly lane?: (data: never) => string;
}
export interface CronSpec extends Options {
  readonly at: string;
  readonly timezone?: string;
  readonly missed?: 'skip' | 'run_once';
}

export type CommandCapability = Base<'command', CommandSpec<TProperties>>;
export type ListenerCapability = Base<'on', Match & { readonly on: string }>;
export type ActionCapability = Base<'action', DataSpec>;
export type DialogCapability = Base<'dialog', DialogSpec<TProperties>>;
export type TaskCapability = Base<'task', DataSpec>;
export type CronCapability = Base<'cron', CronSpec>;
export type WebhookCapability = Base<'webhook', WebhookSpec>;
export type RouteCapability = Base<'route', RouteSpec>;
export type SubscriptionCapability = Base<
  'subscribe',
  Options & {
    readonly event: string;
    readonly schema: TSchema | undefined;
    /** Runs instead of `run` when events were trimmed before delivery. */
    readonly missed?: Run;
  }
>;
export type ToolCapability = Base<'tool', Options & { readonly description: string; readonly input: TProperties }>;
export type Capability =
  | CommandCapability
  | ListenerCapability
  | ActionCapability
  | DialogCapability
  | TaskCapability
  | CronCapability
  | WebhookCapability
  | RouteCapability
  | SubscriptionCapability
  | ToolCapability;

/** Former ids under which work may be stored. The spec is validated after registration, so it may be anything here. */
export function formerIds({ slot, kind, spec }: Capability): readonly CapabilityId[] {
  const names = (spec as Options | undefined)?.formerly;
  return Array.isArray(names) ? names.map((old) => capabilityId(slot, kind, String(old))) : [];
}

/** Returns the capability under the id that the stored work names. Its `once` results and keys are then found again. */
export function keptUnder<C extends Capability>(capability: C, id: string): C {
  const known = [capability.id, ...formerIds(capability)].find((one) => one === id);
  return known === undefined ? capability : { ...capability, keptAs: known };
}

export interface StateDefinition {
  readonly id: string;
  readonly slot: string;
  readonly scope: 'plugin' | 'conversation' | 'user';
  readonly value: TSchema;
  readonly upgrade: ((old: unknown) => unknown) | undefined;
}

export class Capabilities {
  readonly #byId = new Map<string, Capability>();
  readonly #byKind = new Map<string, readonly Capability[]>();
  readonly #states = new Map<string, StateDefinition>();

  /** Throws `definition_invalid` if the id is taken. */
  add<C extends Capability>(capability: Omit<C, 'id' | 'keptAs' | 'place'>): C {
    const id = capabilityId(capability.slot, capability.kind, capability.name);
    if (this.#byId.has(id)) throw new SvcError('definition_invalid', `${id} is defined twice`);
    const named = { ...capability, id, keptAs: id, place: this.#byId.size } as C;
    const entry = { ...named, keptAs: formerIds(named)[0] ?? id };
    this.#byId.set(id, entry);
    this.#byKind.clear();
    return entry;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  addState(definition: StateDefinition): void {
    if (this.#states.has(definition.id))
      throw new SvcError(
        'definition_invalid',
        `state ${definition.id} of ${ownerOf(definition.slot)} is defined twice`,
      );
    this.#states.set(definition.id, definition);
  }

  state(id: string): StateDefinition | undefined {
    return this.#states.get(id);
  }

  states(): readonly StateDefinition[] {
    return [...this.#states.values()];
  }

  /** Finds a capability by its id or a former id. */
  find(id: string): Capability | undefined {
    return this.#byId.get(id) ?? this.all().find((one) => formerIds(one).some((old) => old === id));
  }

  all(): readonly Capability[] {
    return [...this.#byId.values()];
  }

  /** Cached by kind, because every message asks. */
  ofKind<K extends Capability['kind']>(kind: K): readonly Extract<Capability, { kind: K }>[] {
    let known = this.#byKind.get(kind);
    if (known === undefined) {
      known = this.all().filter((one) => one.kind === kind);
      this.#byKind.set(kind, known);
    }
    return known as readonly Extract<Capability, { kind: K }>[];
  }
}
