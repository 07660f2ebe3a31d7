// The addresses at which platforms deliver.
import type { WebhookAddress } from '../../../shared/api/webhook.ts';

export interface WebhookControl {
  list(): readonly WebhookAddress[];
  /** Tells the platform the address of this endpoint. Throws `not_found`, `conflict`, `endpoint_unavailable`, `platform_refused`. */
  register(id: string): Promise<WebhookAddress & { readonly done: string }>;
}
