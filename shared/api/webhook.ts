// Addresses of webhooks on the wire: what an operator registers at a platform.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { servingFields } from './serving.ts';

const fields = {
  /** `<owner>:<name>` of an account, or the id of a webhook that a plugin registered. */
  endpoint: Type.String(),
  /** `<base>/webhooks/<slot>/<id>`. */
  path: Type.String(),
  /** The whole address; null while `http.publicUrl` says nothing. */
  url: Type.Union([Type.String(), Type.Null()]),
  /** The platform has an API by which the host can register it. */
  registers: Type.Boolean(),
};

export const webhookAddressesSchema = Type.Object({ ...servingFields, webhooks: Type.Array(Type.Object(fields)) });

export const webhookRegisteredSchema = Type.Object({ ...fields, done: Type.String() });

export type WebhookAddress = Readonly<Static<typeof webhookAddressesSchema>['webhooks'][number]>;
