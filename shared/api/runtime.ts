// Wire format for the host as a whole: liveness, brief readiness, status, restart, reload and ingress.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from './item.ts';
import { failureSchema, servingFields } from './serving/serving.ts';

export const healthSchema = Type.Object({ status: Type.Literal('ok') });

export const readySchema = Type.Object({ ready: Type.Boolean() }, { additionalProperties: false });

/** Restart and reload take an empty body. */
export const nothingSchema = Type.Object({}, { additionalProperties: false });

export const acceptedSchema = Type.Object({ accepted: Type.Literal(true), runtimeId: Type.String() });

export const reloadedSchema = Type.Object({
  generation: Type.Integer(),
  /** About accounts that cannot work, and about two accounts that are the same. */
  warnings: Type.Array(Type.String()),
});

/** Size and digest of the received body and the client's address, to detect a proxy that changes them. */
export const echoSchema = Type.Object({
  bytes: Type.Integer(),
  sha256: Type.String(),
  /** Behind a proxy of `http.trustedProxies`: the one that the proxy tells. */
  address: Type.String(),
});

export const ingressSchema = Type.Object({
  state: Type.Union([Type.Literal('open'), Type.Literal('paused')]),
  mode: Type.Union([Type.Literal('park'), Type.Literal('reject')]),
  reason: nullableText,
  /** RFC 3339 time at which ingress opens by itself. */
  until: nullableText,
  since: nullableText,
  by: nullableText,
});

/** What still runs, and what waits for the end of a pause. */
export const ingressStatusSchema = Type.Object({
  ...ingressSchema.properties,
  /** True if no handler runs, and no send is pending or under way. */
  quiet: Type.Boolean(),
  /** Items that wait for the end of the pause; 0 while ingress is open. */
  parked: Type.Integer(),
  /** Sends whose next attempt has a time. */
  waitingSends: Type.Integer(),
  /** Handlers that run, the longest first, at most 20. */
  handlers: Type.Array(Type.Object({ handler: Type.String(), item: Type.String(), since: Type.String() })),
  /** Sends that are pending or under way, by account. */
  sends: Type.Array(Type.Object({ endpoint: Type.String(), count: Type.Integer() })),
});

/** What the end of a pause would begin now. */
export const ingressPreviewSchema = Type.Object({
  /** By account, or by handler where no account sent the item. */
  items: Type.Array(
    Type.Object({ endpoint: Type.String(), kind: Type.String(), count: Type.Integer(), oldest: nullableText }),
  ),
  /** Jobs that are due: runs, and due times that count as missed, by the `missed` of the job. */
  jobs: Type.Array(Type.Object({ job: Type.String(), runs: Type.Integer(), missed: Type.Integer() })),
  /** Tasks and cron of plugins that are due, and deadlines of a Workroom, by handler. */
  tasks: Type.Array(
    Type.Object({
      handler: Type.String(),
      kind: Type.Union([Type.Literal('task'), Type.Literal('cron'), Type.Literal('deadline')]),
      count: Type.Integer(),
      oldest: nullableText,
    }),
  ),
});

const lastExitSchema = Type.Object({
  /** Id of the next process. */
  before: Type.String(),
  at: Type.String(),
  end: Type.String(),
  code: Type.Union([Type.Integer(), Type.Null()]),
  signal: nullableText,
});

/** Facts about the host. A value is null while its component does not exist yet. */
export const statusSchema = Type.Object(
  {
    name: Type.Optional(Type.String()),
    kind: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    node: Type.Optional(Type.String()),
    projectId: Type.Optional(nullableText),
    runtimeId: Type.Optional(Type.String()),
    generation: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    /** Former generations with running work. */
    draining: Type.Optional(Type.Array(Type.Object({ generation: Type.Integer(), running: Type.Integer() }))),
    /** A digest of the configuration. Only with full scope. */
    configVersion: Type.Optional(Type.String()),
    startedAt: Type.Optional(Type.String()),
    mode: Type.Optional(Type.String()),
    owner: Type.Optional(Type.String()),
    ready: Type.Optional(Type.Boolean()),
    state: Type.Optional(Type.String()),
    /** Why the host is not ready. Only with full scope. */
    reasons: Type.Optional(Type.Array(Type.String())),
    restarts: Type.Optional(Type.Integer()),
    lastExits: Type.Optional(Type.Array(lastExitSchema)),
    ingress: Type.Optional(Type.Union([ingressSchema, Type.Null()])),
    epoch: Type.Optional(nullableText),
    /** Number of the newest event. */
    head: Type.Optional(Type.Integer()),
    /** Waiting inbox items. Their bytes only with full scope. */
    inbox: Type.Optional(Type.Object({ items: Type.Integer(), bytes: Type.Optional(Type.Integer()) })),
    /** The newest one, and when it was last verified. Null before the first. */
    checkpoint: Type.Optional(
      Type.Union([
        Type.Object({
          name: Type.String(),
          /** Null: its manifest cannot be read. */
          at: nullableText,
          level: Type.String(),
          verifiedAt: nullableText,
          /** Why it cannot be relied on. In words only with full scope, else the level. */
          fault: nullableText,
          /** The one that failed last, while no newer one was rehearsed without a fault. */
          failed: nullableText,
          /** The newest without a known fault. */
          good: nullableText,
        }),
        Type.Null(),
      ]),
    ),
    /** Why the newest configuration does not serve. The reason only with full scope. */
    lastFailure: Type.Optional(failureSchema),
  },
  { additionalProperties: true },
);

export const ingressChangeSchema = Type.Object(
  {
    state: Type.Union([Type.Literal('open'), Type.Literal('paused')]),
    mode: Type.Optional(Type.Union([Type.Literal('park'), Type.Literal('reject')])),
    reason: Type.Optional(Type.String({ maxLength: 500 })),
    until: Type.Optional(
      Type.String({
        maxLength: 40,
        pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
      }),
    ),
  },
  { additionalProperties: false },
);

const pluginSchema = Type.Object(
  {
    slot: Type.String(),
    owner: Type.String(),
    /** Only with full scope. */
    use: Type.Optional(Type.String()),
    name: Type.String(),
    kind: Type.Enum(['plugin', 'adapter']),
    source: Type.String(),
    capabilities: Type.Array(Type.String()),
    endpoints: Type.Array(Type.String()),
  },
  { additionalProperties: true },
);

export const pluginsSchema = Type.Object({
  ...servingFields,
  plugins: Type.Array(pluginSchema),
  /** Handlers in the order in which they receive a message. */
  order: Type.Array(
    Type.Object({
      asked: Type.Enum(['before', 'claims', 'normal', 'after']),
      about: Type.String(),
      capability: Type.String(),
    }),
  ),
});

/** The effective configuration with secrets masked. */
export const configSchema = Type.Object({
  version: Type.String(),
  config: Type.Record(Type.String(), Type.Unknown()),
  /** Each value with its source. */
  values: Type.Array(
    Type.Object({
      path: Type.String(),
      value: Type.Unknown(),
      source: Type.String(),
      variables: Type.Array(Type.String()),
      /** The variables whose own value is used instead of their default. */
      taken: Type.Array(Type.String()),
    }),
  ),
});

export const logsSchema = Type.Object({ lines: Type.Array(Type.Unknown()) });

export const openapiSchema = Type.Record(Type.String(), Type.Unknown());

export type IngressState = Static<typeof ingressSchema>;
export type IngressStatus = Static<typeof ingressStatusSchema>;
export type IngressPreview = Static<typeof ingressPreviewSchema>;
export type IngressChange = Static<typeof ingressChangeSchema>;
