// The addresses at which platforms deliver.
import type { WebhookAddress } from '../../../shared/api/webhook.ts';

export interface WebhookControl {
  list(): readonly WebhookAddress[];
  /** Registers the endpoint's address at the platform. Throws `not_found`, `conflict`, `endpoint_unavailable`, `platform_refused`. */
  register(id: string): Promise<WebhookAddress & { readonly done: string }>;
}
