// Wire format of webhook addresses, which an operator registers at a platform.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { servingFields } from './serving/serving.ts';

const fields = {
  /** `<owner>:<name>` of an account, or the id of a plugin's webhook. */
  endpoint: Type.String(),
  /** `<base>/webhooks/<slot>/<id>`. */
  path: Type.String(),
  /** The full address. Null while `http.publicUrl` is not set. */
  url: Type.Union([Type.String(), Type.Null()]),
  /** Whether the host can register it through the platform's API. */
  registers: Type.Boolean(),
};

export const webhookAddressesSchema = Type.Object({ ...servingFields, webhooks: Type.Array(Type.Object(fields)) });

export const webhookRegisteredSchema = Type.Object({ ...fields, done: Type.String() });

export type WebhookAddress = Readonly<Static<typeof webhookAddressesSchema>['webhooks'][number]>;
