// What the HTTP interface asks of the host: a port a feature. `worker/host/host-api.ts` joins them; routes hold no rules of their own and see
// nothing else. Failures that a client should read are thrown as SvcError: its code gives status and title (shared/error-codes.ts).
import type { IdempotencyStore } from '../answer/kept-answer.ts';
import type { HttpSettings } from './caller.ts';
import type { ChatApi } from './chat-api.ts';
import type { DeliveryApi } from './delivery-api.ts';
import type { EndpointControl } from './endpoints-api.ts';
import type { EventGateway } from './events-api.ts';
import type { FilesApi } from './files-api.ts';
import type { IngressApi } from './ingress-api.ts';
import type { ItemStore } from './items-api.ts';
import type { SystemApi } from './system-api.ts';
import type { WebhookControl } from './webhooks-api.ts';

export interface HostApi {
  settings(): HttpSettings;
  readonly system: SystemApi;
  readonly ingress: IngressApi;
  readonly deliveries: DeliveryApi;
  readonly inbox: ItemStore;
  readonly outbox: ItemStore;
  readonly endpoints: EndpointControl;
  readonly webhooks: WebhookControl;
  readonly events: EventGateway;
  readonly files: FilesApi;
  readonly idempotency: IdempotencyStore;
  /** What people write on the chat page and in `svc chat`; answers come over the event stream and `chat.messages`. */
  readonly chat: ChatApi | undefined;
  /** Counted and logged: `auth_failed` is a token that is not known, `refused` whatever else ended before its route ran. */
  observe(fact: {
    readonly kind: 'request' | 'auth_failed' | 'refused';
    readonly route: string;
    readonly status: number;
    readonly ms: number;
    readonly requestId: string;
    readonly address: string;
  }): void;
}
