// The registry of event types: name, version, schema of `data`, and the fields that demo scope sees.
//
//   EVENTTYPE-1  An event of an unregistered type does not compile: `NewEvent` is a union over the registry.
//   EVENTTYPE-2  `data` contains ids, digests, counts, codes and constant phrases, never a person's text or account name. Demo scope sees
//                no digest of a text and no exact size. Either would help to guess a short text.
//   EVENTTYPE-3  A field with a new meaning needs a higher `version`. A field is never reused.
//   EVENTTYPE-4  Event types of plugins contain a dot, use none of the host's prefixes, and show demo scope no field.

import type { Static, TObject, TProperties } from 'typebox';
import * as Type from 'typebox';
import { SvcError } from '../../shared/svc-error.ts';

export interface EventKind<P extends TProperties = TProperties> {
  readonly version: number;
  readonly data: TObject<P>;
  /** Fields of `data` that the demo scope sees. */
  readonly demo: readonly string[];
}

const kind = <P extends TProperties>(version: number, data: P, demo: readonly (keyof P & string)[]): EventKind<P> => ({
  version,
  data: Type.Object(data),
  demo,
});

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const flag = Type.Boolean();
const orNull = <S extends Type.TSchema>(schema: S): Type.TUnion<[S, Type.TNull]> => Type.Union([schema, Type.Null()]);
/** A stable error code, and a constant phrase or a platform's status line. */
const fault = { code: text, reason: text };

export const EVENT_TYPES = {
  // inbox items: `item` is the id, `kind` is arrival, webhook, task, event or cron
  'inbox.received': kind(1, { item: text, kind: text, delivery: text, lane: text, bytes: count, sha256: text }, [
    'item',
    'kind',
  ]),
  'inbox.duplicate_conflict': kind(1, { item: text, delivery: text, bytes: count, sha256: text }, ['item']),
  'inbox.waiting': kind(1, { item: text, handler: orNull(text), attempts: count, delayMs: count, ...fault }, [
    'item',
    'attempts',
    'delayMs',
    'code',
  ]),
  'inbox.done': kind(1, { item: text, attempts: count, sends: count, durationMs: count }, [
    'item',
    'attempts',
    'sends',
    'durationMs',
  ]),
  'inbox.dead': kind(1, { item: text, handler: orNull(text), attempts: count, ...fault }, ['item', 'attempts', 'code']),
  'inbox.replayed': kind(1, { item: text }, ['item']),
  // `was` is the item's state before the operator's action
  'inbox.held': kind(1, { item: text, reason: text, was: text }, ['item', 'was']),
  'inbox.dropped': kind(1, { item: text, reason: text, was: Type.Optional(text) }, ['item', 'was']),

  // sends: `kind` is post, edit, remove or react; `from` is the inbox item that caused the send
  'outbox.sent': kind(
    1,
    { item: text, kind: text, attempts: count, conversation: text, from: orNull(text), platformMessage: orNull(text) },
    ['item', 'kind', 'attempts'],
  ),
  'outbox.waiting': kind(1, { item: text, attempts: count, delayMs: count, ...fault }, [
    'item',
    'attempts',
    'delayMs',
    'code',
  ]),
  'outbox.unknown': kind(1, { item: text, attempts: count, ...fault }, ['item', 'attempts', 'code']),
  'outbox.dead': kind(1, { item: text, attempts: count, ...fault }, ['item', 'attempts', 'code']),
  'outbox.replayed': kind(1, { item: text, answer: orNull(text) }, ['item']),
  'outbox.held': kind(1, { item: text, reason: text, was: text }, ['item', 'was']),
  'outbox.dropped': kind(1, { item: text, reason: text, was: Type.Optional(text) }, ['item', 'was']),

  'endpoint.state_changed': kind(
    1,
    { from: text, to: text, failures: count, code: orNull(text), reason: orNull(text) },
    ['from', 'to', 'failures', 'code'],
  ),
  'endpoint.enabled': kind(1, {}, []),
  'endpoint.disabled': kind(1, {}, []),

  'generation.committed': kind(
    1,
    { number: count, previous: orNull(count), configVersion: text, capabilities: count, endpoints: count },
    ['number', 'previous', 'capabilities', 'endpoints'],
  ),
  'generation.failed': kind(1, { number: orNull(count), serving: orNull(count), plugin: orNull(text), ...fault }, [
    'number',
    'serving',
    'code',
  ]),
  'generation.retired': kind(1, { number: count, servedMs: count, cut: count }, ['number', 'servedMs', 'cut']),

  'ingress.paused': kind(1, { mode: text, reason: orNull(text), until: orNull(text) }, ['mode', 'until']),
  'ingress.resumed': kind(1, { parked: count, automatic: flag }, ['parked', 'automatic']),

  'runtime.started': kind(
    1,
    { version: text, node: text, owner: text, mode: text, previousEnd: text, previousCode: orNull(Type.Integer()) },
    ['version', 'owner', 'mode', 'previousEnd', 'previousCode'],
  ),
  'runtime.stopping': kind(1, { reason: text, exitCode: count }, ['reason', 'exitCode']),
  'runtime.restart_requested': kind(1, { reason: text, exitCode: count }, ['reason', 'exitCode']),

  'plugin.failed': kind(1, { plugin: text, capability: orNull(text), during: text, ...fault }, [
    'plugin',
    'during',
    'code',
  ]),
  'ready.changed': kind(1, { ready: flag, state: text, unmet: Type.Array(text) }, ['ready', 'state', 'unmet']),

  // a subscriber lagged behind the oldest stored event; all events in between are lost
  'subscription.gap': kind(1, { capability: text, atMost: count }, ['capability', 'atMost']),

  // scheduled jobs: `runid` of the event is the run; times are epoch milliseconds; `due` is null for a run by hand
  'job.started': kind(1, { job: text, due: orNull(count), lateMs: count, item: text }, ['job', 'due', 'lateMs']),
  'job.ended': kind(1, { job: text, due: orNull(count), outcome: text, durationMs: count, reason: orNull(text) }, [
    'job',
    'due',
    'outcome',
    'durationMs',
  ]),
  'job.skipped': kind(1, { job: text, due: orNull(count), reason: text }, ['job', 'due', 'reason']),
  'job.missed': kind(1, { job: text, from: count, until: count, count }, ['job', 'from', 'until', 'count']),
  'job.file_taken': kind(1, { revision: count, jobs: count, sha256: text }, ['revision', 'jobs']),
  'job.file_refused': kind(1, { code: text, line: count, column: count }, ['code', 'line', 'column']),

  // checkpoints: `bytes` of all parts; `holdMs` is the time in which nothing was committed
  'checkpoint.created': kind(1, { name: text, bytes: count, ms: count, holdMs: count, reason: orNull(text) }, [
    'name',
    'bytes',
    'ms',
    'holdMs',
  ]),
  'checkpoint.failed': kind(1, { name: orNull(text), code: text }, ['name', 'code']),
  'checkpoint.verified': kind(1, { name: text, level: text, ok: flag, ms: count }, ['name', 'level', 'ok', 'ms']),
  'checkpoint.pruned': kind(1, { name: text }, ['name']),

  // releases: a step that a command did, told by the host that serves; `from` is null for the first
  'release.changed': kind(1, { release: text, from: orNull(text), to: text }, ['release', 'from', 'to']),
  'release.judged': kind(1, { release: text, verdict: text, signal: text }, ['release', 'verdict']),

  // alerts: `key` holds the values of its labels; `since` and `until` are epoch milliseconds
  'alert.fired': kind(1, { alert: text, key: text, severity: text, since: count }, [
    'alert',
    'key',
    'severity',
    'since',
  ]),
  'alert.resolved': kind(1, { alert: text, key: text, severity: text, since: count }, [
    'alert',
    'key',
    'severity',
    'since',
  ]),
  // an empty `key` is every alert of the name; `until` is null after an end by hand
  'alert.silenced': kind(1, { alert: text, key: text, until: orNull(count), reason: orNull(text) }, [
    'alert',
    'key',
    'until',
  ]),
  'alert.tested': kind(1, { sends: count }, ['sends']),

  'task.scheduled': kind(1, { task: text, capability: text, at: text }, ['capability', 'at']),
  'task.cancelled': kind(1, { task: text, capability: text }, ['capability']),

  // `change` is the kind of the journal's event; `blockers` counts the open ones; `blocker` is the one that changed
  'workroom.item_changed': kind(
    1,
    {
      item: text,
      board: text,
      version: count,
      change: text,
      status: text,
      state: text,
      blockers: count,
      blocker: Type.Optional(text),
      assignee: Type.Optional(text),
    },
    ['item', 'board', 'version', 'change', 'status', 'state', 'blockers'],
  ),
  'workroom.board_changed': kind(1, { board: text, version: count, change: text }, ['board', 'version', 'change']),
  'workroom.member_changed': kind(1, { change: text, member: text }, ['change']),
  'workroom.verified': kind(1, { seq: count, ms: count }, ['seq', 'ms']),
  'workroom.damaged': kind(1, { seq: count, fault: text, stream: text }, ['seq', 'fault']),
  'workroom.head_noted': kind(1, { seq: count, hash: text }, ['seq']),

  // `name` is a checkpoint, or a replaced state that came back; `lost` counts events, `carried` items and sends
  'checkpoint.restored': kind(1, { name: text, lost: count, carried: count }, ['name', 'lost', 'carried']),

  // `acceptance` is its number; `settled` names the rows that a person has settled
  'host.accepted': kind(1, { acceptance: count, release: orNull(text), settled: Type.Array(text) }, [
    'acceptance',
    'release',
    'settled',
  ]),
} as const satisfies Readonly<Record<string, EventKind>>;

export type EventTypeName = keyof typeof EVENT_TYPES;
/** `data` of a registered type. */
export type EventData<T extends EventTypeName> = Static<(typeof EVENT_TYPES)[T]['data']>;

/** Fields of every event. `at` is in epoch milliseconds. */
export interface EventHead {
  readonly at: number;
  readonly runtimeId: string;
  /** The subject: an item id, a capability or a plugin. For inbox and outbox it may be left out: `data.item` is used. */
  readonly subject?: string | undefined;
  /** `<owner>:<name>`. */
  readonly endpoint?: string | undefined;
  readonly runId?: string | undefined;
  readonly actor?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly causationId?: string | undefined;
  readonly generation?: number | undefined;
}

export type HostEvent = {
  readonly [T in EventTypeName]: EventHead & { readonly type: T; readonly data: Readonly<EventData<T>> };
}[EventTypeName];

/** Name of a plugin's event type, checked by `pluginEventType`. */
export type PluginEventType = string & { readonly '~brand': 'PluginEventType' };
/** An event emitted by a plugin. The event's data matches the plugin's schema. */
export type PluginEvent = EventHead & { readonly type: PluginEventType; readonly data: unknown };

export type NewEvent = HostEvent | PluginEvent;

/** First words reserved for the host. Plugins may use `plugin.<slot>.<name>`. */
const HOST_PREFIXES: ReadonlySet<string> = new Set([
  'svc',
  'inbox',
  'outbox',
  'endpoint',
  'generation',
  'ingress',
  'runtime',
  'plugin',
  'ready',
  'subscription',
  'task',
  'timer',
  'job',
  'schedule',
  'workroom',
  'agent',
  'run',
  'checkpoint',
  'release',
  'service',
  'host',
  'database',
  'disk',
  'history',
  'config',
  'token',
  'console',
  'alert',
]);
const TYPE_PATTERN = /^[a-z][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)+$/;
const MAX_TYPE_LENGTH = 128;

/** Checks the name of a plugin's event type at assembly. Throws `definition_invalid` with the violated rule. */
export function pluginEventType(name: string): PluginEventType {
  const fault = faultOfTypeName(name);
  if (fault !== undefined)
    throw new SvcError('definition_invalid', `event type "${name}" ${fault}`, { hint: 'name it like "polls.closed"' });
  return name as PluginEventType;
}

/** The fault in the name of a plugin's event type, or undefined. */
export function faultOfTypeName(name: string): string | undefined {
  if (name.length > MAX_TYPE_LENGTH || !TYPE_PATTERN.test(name)) return 'must be dotted words of a-z, 0-9, "_" and "-"';
  const words = name.split('.');
  if (words[0] === 'plugin' && words.length >= 3) return undefined;
  return HOST_PREFIXES.has(words[0] ?? '') ? `begins with "${words[0]}.", which belongs to the host` : undefined;
}

/** The registry entry of a stored type. Undefined for types of plugins. */
export function eventKind(type: string): EventKind | undefined {
  return Object.hasOwn(EVENT_TYPES, type) ? EVENT_TYPES[type as EventTypeName] : undefined;
}
