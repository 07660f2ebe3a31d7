// `p` of a plugin's `setup`: registers the capabilities of one generation. No handler runs here; resources open at activation.
import type { TSchema } from 'typebox';
import { capabilityId } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Capabilities, RouteSpec, Run } from '../../handling/plan/capabilities.ts';
import type { PluginCounter, PluginGauge } from '../../metrics/metrics.ts';
import type { ConversationRef, Language, Logger } from '../../sdk/index.ts';
import { listenerName } from '../checks/listener-name.ts';
import { faultOfLabels, faultOfMetric } from '../checks/metric-checks.ts';

export interface PluginResource {
  readonly slot: string;
  readonly name: string;
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** All registrations of one generation. */
export interface Registered {
  readonly capabilities: Capabilities;
  readonly gauges: PluginGauge[];
  readonly languages: ((conversation: ConversationRef) => Language | undefined)[];
  readonly counters: PluginCounter[];
  readonly resources: PluginResource[];
}

export interface SetupOf {
  readonly slot: string;
  readonly config: unknown;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly uses: readonly string[];
  readonly registered: Registered;
}

type Loose = Readonly<Record<string, never>>;

export function makeSetup({ slot, config, log, signal, uses, registered }: SetupOf): unknown {
  const { capabilities } = registered;
  let closed = false;
  const base = (name: string, run: unknown): { slot: string; name: string; uses: readonly string[]; run: Run } => {
    if (closed) throw new SvcError('definition_invalid', `${slot}: setup is over, nothing more is registered`);
    return { slot, name, uses, run: run as Run };
  };
  const handle = (kind: string, name: string) => ({ id: capabilityId(slot, kind, name), kind });
  const add = (kind: string, name: string, [spec, run]: readonly [object, unknown]): void =>
    void capabilities.add({ kind, ...base(name, run), spec } as never);
  const state = (store: string, key: string, owner: unknown): object => ({
    store,
    key,
    ...(owner === undefined ? {} : { owner }),
    at: (inner: string) => state(store, inner, owner),
    of: (other: unknown) => state(store, key, other ?? {}), // without a user, do not fall back to the author of the message
  });
  const metric = (
    name: string,
    help: string,
    { suffix, also }: { suffix: string; also: string | undefined },
  ): string => {
    base(name, undefined);
    const id = `svc_plugin_${slot}_${String(name)}${suffix}`.replaceAll('-', '_');
    const taken = [...registered.gauges, ...registered.counters];
    const fault = faultOfMetric({ name, help, id, taken }) ?? also;
    if (fault !== undefined) throw new SvcError('definition_invalid', `${slot}: metric ${String(name)} ${fault}`);
    return id;
  };
  const setup = {
    slot,
    config,
    log,
    signal,
    command: (name: string, spec: Loose, run: unknown) => add('command', name, [spec, run]),
    on: (kind: string, match: Loose, run: unknown) => {
      const isTaken = (name: string): boolean => capabilities.has(capabilityId(slot, 'on', name));
      add('on', listenerName(kind, { ...match }, isTaken), [{ ...match, on: kind }, run]);
    },
    action: (name: string, spec: Loose, run: unknown) => {
      add('action', name, [spec, run]);
      const { id, kind } = handle('action', name);
      return {
        id,
        kind,
        button: (label: string, data: unknown, style?: string) => ({
          label,
          action: id,
          data,
          ...(style === undefined ? {} : { style }),
        }),
      };
    },
    dialog: (name: string, spec: Loose, run: unknown) => {
      add('dialog', name, [spec, run]);
      return handle('dialog', name);
    },
    task: (name: string, spec: Loose, run: unknown) => {
      add('task', name, [spec, run]);
      return handle('task', name);
    },
    cron: (name: string, spec: Loose, run: unknown) => add('cron', name, [spec, run]),
    webhook: (name: string, spec: Loose, run: unknown) => add('webhook', name, [spec, run]),
    route: (at: string, spec: Loose, run: unknown) => {
      const [method = 'GET', path = '/'] = at.split(' ');
      const scope = (spec['scope'] ?? 'full') as RouteSpec['scope'];
      add('route', `${method} ${path}`, [{ ...spec, scope, method, path } satisfies Partial<RouteSpec>, run]);
    },
    subscribe: (event: { id: string; schema?: TSchema }, run: unknown, spec: object = {}) => {
      if (typeof event?.id !== 'string')
        throw new SvcError('definition_invalid', `${slot}: subscribe takes an event: defineEvent(type, schema)`);
      add('subscribe', event.id, [{ ...spec, event: event.id, schema: event.schema }, run]);
    },
    tool: (tool: Readonly<Record<string, unknown>>) =>
      add('tool', String(tool['name']), [
        tool,
        (ctx: never, input: never) => (tool['run'] as (c: never, i: never) => unknown)(ctx, input),
      ]),
    state: (
      name: string,
      spec: { scope: 'plugin' | 'conversation' | 'user'; value: TSchema; upgrade?: (old: unknown) => unknown },
    ) => {
      base(name, undefined);
      const id = `${slot}/${name}`;
      capabilities.addState({ id, slot, scope: spec.scope, value: spec.value, upgrade: spec.upgrade });
      return state(id, '', undefined);
    },
    language: (of: (conversation: ConversationRef) => Language | undefined) => {
      if (typeof of !== 'function')
        throw new SvcError(
          'definition_invalid',
          `${slot}: language takes a function: conversation => 'en', 'zh' or undefined`,
        );
      registered.languages.push(of);
    },
    gauge: (name: string, help: string, read: () => number | Promise<number>) => {
      const also = typeof read === 'function' ? undefined : 'has no function that reads it';
      registered.gauges.push({ name: metric(name, help, { suffix: '', also }), help, read });
    },
    counter: (name: string, help: string, labels: Readonly<Record<string, readonly string[]>> = {}) => {
      const id = metric(name, help, { suffix: '_total', also: faultOfLabels(labels) });
      registered.counters.push({ name: id, help, labels });
      return { id, kind: 'counter', labels };
    },
    resource: (
      name: string,
      open: (signal: AbortSignal) => Promise<unknown>,
      close: (resource: unknown) => void | Promise<void>,
    ) => {
      let held: { readonly value: unknown } | undefined;
      registered.resources.push({
        slot,
        name,
        async open(resourceSignal) {
          held = { value: await open(resourceSignal) };
        },
        async close() {
          const value = held;
          held = undefined;
          if (value !== undefined) await close(value.value);
        },
      });
      return () => {
        if (held === undefined) throw new Error(`${slot}: resource ${name} is not open`);
        return held.value;
      };
    },
    /** Called by the host after `setup` has returned. */
    '~close': () => {
      closed = true;
    },
  };
  return setup;
}
