// The host as a whole on the wire: liveness, readiness in brief, status, restart and reload, ingress.
import type { Static } from 'typebox';
import * as Type from 'typebox';

const nullableText = Type.Union([Type.String(), Type.Null()]);

export const healthSchema = Type.Object({ status: Type.Literal('ok') });

export const readySchema = Type.Object({ ready: Type.Boolean() }, { additionalProperties: false });

/** What is known of the host at any time; absent or null where a part does not exist yet. */
export const statusSchema = Type.Object(
  {
    name: Type.Optional(Type.String()),
    kind: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    runtimeId: Type.Optional(Type.String()),
    generation: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    startedAt: Type.Optional(Type.String()),
    owner: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

/** A restart and a reload take no choices in their body. */
export const nothingSchema = Type.Object({}, { additionalProperties: false });

export const acceptedSchema = Type.Object({ accepted: Type.Literal(true), runtimeId: Type.String() });

export const reloadedSchema = Type.Object({ generation: Type.Integer() });

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

export const pluginsSchema = Type.Object({
  plugins: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  /** Handlers in the order in which they are asked about what arrives. */
  order: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});

/** The effective configuration, secrets masked. */
export const configSchema = Type.Record(Type.String(), Type.Unknown());

export const logsSchema = Type.Object({ lines: Type.Array(Type.Unknown()) });

/** A page of the event history: `items` are CloudEvents (shared/api/event.ts). */
export const eventPageSchema = Type.Record(Type.String(), Type.Unknown());

export const openapiSchema = Type.Record(Type.String(), Type.Unknown());

export type IngressChangeBody = Static<typeof ingressChangeSchema>;
