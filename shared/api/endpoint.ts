// Wire format of endpoints: platform accounts, their state and its cause.
import * as Type from 'typebox';
import { servingFields } from './serving/serving.ts';

export const ENDPOINT_STATES = ['disabled', 'connecting', 'online', 'degraded', 'offline', 'failed'] as const;

/** Additional fields are allowed, because a host may add more. */
export const endpointSchema = Type.Object(
  {
    /** `<owner>:<name>`. */
    id: Type.String(),
    owner: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    adapter: Type.Optional(Type.String()),
    state: Type.Enum(ENDPOINT_STATES),
    since: Type.Optional(Type.String()),
    /** The effective value: the operator's override, else the configuration. */
    enabled: Type.Optional(Type.Boolean()),
    /** The configured value. */
    configured: Type.Optional(Type.Boolean()),
    /** The operator's override of the configuration. */
    override: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    reconnects: Type.Optional(Type.Integer()),
    failures: Type.Optional(Type.Integer()),
    /** Only with full scope. */
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

/** One page, ordered by id. `next` is the cursor of the following page and absent on the last. */
export const endpointsSchema = Type.Object({
  ...servingFields,
  endpoints: Type.Array(endpointSchema),
  next: Type.Optional(Type.String()),
  total: Type.Integer(),
});
