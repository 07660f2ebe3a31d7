// Endpoints on the wire: accounts of platforms, what state they are in and why.
import type { Static } from 'typebox';
import * as Type from 'typebox';

export const ENDPOINT_STATES = ['disabled', 'connecting', 'online', 'degraded', 'offline', 'failed'] as const;

/** Fields beyond these are allowed: an adapter's host may say more. */
export const endpointSchema = Type.Object(
  {
    /** `<owner>:<name>`. */
    id: Type.String(),
    state: Type.Enum(ENDPOINT_STATES),
  },
  { additionalProperties: true },
);

export const endpointsSchema = Type.Object({ endpoints: Type.Array(endpointSchema) });

export type Endpoint = Static<typeof endpointSchema>;
