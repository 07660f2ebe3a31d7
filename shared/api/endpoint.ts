// Endpoints on the wire: accounts of platforms, what state they are in and why.
import * as Type from 'typebox';
import { servingFields } from './serving.ts';

export const ENDPOINT_STATES = ['disabled', 'connecting', 'online', 'degraded', 'offline', 'failed'] as const;

/** Fields beyond these are allowed: an adapter's host may say more. */
export const endpointSchema = Type.Object(
  {
    /** `<owner>:<name>`. */
    id: Type.String(),
    owner: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    adapter: Type.Optional(Type.String()),
    state: Type.Enum(ENDPOINT_STATES),
    since: Type.Optional(Type.String()),
    /** What counts: the configuration, or what an operator said since. */
    enabled: Type.Optional(Type.Boolean()),
    /** What the configuration says. */
    configured: Type.Optional(Type.Boolean()),
    /** What an operator said, which beats the configuration. */
    override: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    reconnects: Type.Optional(Type.Integer()),
    failures: Type.Optional(Type.Integer()),
    /** Words for full scope. */
    lastError: Type.Optional(
      Type.Union([
        Type.Object({
          at: Type.String(),
          code: Type.String(),
          reason: Type.Optional(Type.String()),
          remedy: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        }),
        Type.Null(),
      ]),
    ),
  },
  { additionalProperties: true },
);

/** One page, by id; `next` is the cursor of the page after it and absent at the end. */
export const endpointsSchema = Type.Object({
  ...servingFields,
  endpoints: Type.Array(endpointSchema),
  next: Type.Optional(Type.String()),
  total: Type.Integer(),
});
