// The host as a whole on the wire: liveness, readiness in brief, status, restart and reload, ingress.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from './item.ts';
import { failureSchema, servingFields } from './serving.ts';

export const healthSchema = Type.Object({ status: Type.Literal('ok') });

export const readySchema = Type.Object({ ready: Type.Boolean() }, { additionalProperties: false });

/** A restart and a reload take no choices in their body. */
export const nothingSchema = Type.Object({}, { additionalProperties: false });

export const acceptedSchema = Type.Object({ accepted: Type.Literal(true), runtimeId: Type.String() });

export const reloadedSchema = Type.Object({
  generation: Type.Integer(),
  /** Of accounts that cannot work, or that are one. */
  warnings: Type.Array(Type.String()),
});

/** A body as it arrived, for finding a proxy that changes it. */
export const echoSchema = Type.Object({ bytes: Type.Integer(), sha256: Type.String() });

export const ingressSchema = Type.Object({
  state: Type.Union([Type.Literal('open'), Type.Literal('paused')]),
  mode: Type.Union([Type.Literal('park'), Type.Literal('reject')]),
  reason: nullableText,
  /** RFC 3339: when it opens by itself. */
  until: nullableText,
  since: nullableText,
  by: nullableText,
});

const lastExitSchema = Type.Object({
  /** The process that started after it. */
  before: Type.String(),
  at: Type.String(),
  end: Type.String(),
  code: Type.Union([Type.Integer(), Type.Null()]),
  signal: nullableText,
});

/** What is known of the host at any time; null where a part does not exist yet. */
export const statusSchema = Type.Object(
  {
    name: Type.Optional(Type.String()),
    kind: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    node: Type.Optional(Type.String()),
    projectId: Type.Optional(nullableText),
    runtimeId: Type.Optional(Type.String()),
    generation: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    /** Former generations that still have work in hand. */
    draining: Type.Optional(Type.Array(Type.Object({ generation: Type.Integer(), running: Type.Integer() }))),
    /** A digest of the configuration; for full scope. */
    configVersion: Type.Optional(Type.String()),
    startedAt: Type.Optional(Type.String()),
    mode: Type.Optional(Type.String()),
    owner: Type.Optional(Type.String()),
    ready: Type.Optional(Type.Boolean()),
    state: Type.Optional(Type.String()),
    /** Why it is not ready; for full scope. */
    reasons: Type.Optional(Type.Array(Type.String())),
    restarts: Type.Optional(Type.Integer()),
    lastExits: Type.Optional(Type.Array(lastExitSchema)),
    ingress: Type.Optional(Type.Union([ingressSchema, Type.Null()])),
    epoch: Type.Optional(nullableText),
    /** Number of the newest event. */
    head: Type.Optional(Type.Integer()),
    /** What waits in the inbox; its bytes for full scope. */
    inbox: Type.Optional(Type.Object({ items: Type.Integer(), bytes: Type.Optional(Type.Integer()) })),
    /** Why the newest configuration does not serve; the reason for full scope. */
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
    /** For full scope. */
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
  /** Handlers in the order in which they are asked about what arrives. */
  order: Type.Array(
    Type.Object({
      asked: Type.Enum(['before', 'claims', 'normal', 'after']),
      about: Type.String(),
      capability: Type.String(),
    }),
  ),
});

/** The effective configuration, secrets masked. */
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
      /** Of these, whose own value counts, not the default beside them. */
      taken: Type.Array(Type.String()),
    }),
  ),
});

export const logsSchema = Type.Object({ lines: Type.Array(Type.Unknown()) });

export const openapiSchema = Type.Record(Type.String(), Type.Unknown());

export type IngressState = Static<typeof ingressSchema>;
export type IngressChange = Static<typeof ingressChangeSchema>;
