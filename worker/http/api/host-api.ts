// The host as the HTTP interface sees it: one interface per feature. Routes contain no rules of their own.
// Errors for clients are thrown as SvcError, whose code determines status and title.
import type { IdempotencyStore } from '../answer/kept-answer.ts';
import type { AcceptanceApi } from './acceptance-api.ts';
import type { AlertsApi } from './alerts-api.ts';
import type { HttpSettings } from './caller.ts';
import type { ChatApi } from './chat-api.ts';
import type { CheckpointsApi } from './checkpoints-api.ts';
import type { DeliveryApi } from './delivery-api.ts';
import type { EndpointControl } from './endpoints-api.ts';
import type { EventGateway } from './events-api.ts';
import type { FilesApi } from './files-api.ts';
import type { IngressApi } from './ingress-api.ts';
import type { ItemStore } from './items-api.ts';
import type { JobsApi } from './jobs-api.ts';
import type { ReleasesApi } from './releases-api.ts';
import type { SystemApi } from './system-api.ts';
import type { TaskControl } from './tasks-api.ts';
import type { WebhookControl } from './webhooks-api.ts';
import type { WorkroomApi } from './workroom-api.ts';

export interface HostApi {
  settings(): HttpSettings;
  readonly system: SystemApi;
  readonly ingress: IngressApi;
  readonly deliveries: DeliveryApi;
  readonly inbox: ItemStore;
  readonly outbox: ItemStore;
  readonly endpoints: EndpointControl;
  readonly jobs: JobsApi;
  readonly checkpoints: CheckpointsApi;
  readonly releases: ReleasesApi;
  readonly acceptance: AcceptanceApi;
  readonly alerts: AlertsApi;
  readonly webhooks: WebhookControl;
  readonly tasks: TaskControl;
  readonly events: EventGateway;
  readonly files: FilesApi;
  readonly idempotency: IdempotencyStore;
  /** The chat page and `svc chat`. Replies arrive over the event stream and `chat.messages`. Undefined without a sandbox account. */
  readonly chat: ChatApi | undefined;
  /** Undefined on a host that is no Workroom. */
  readonly workroom: WorkroomApi | undefined;
  /** Counts and logs a request. `auth_failed`: an unknown token. `refused`: any other end before the route ran. */
  observe(fact: {
    readonly kind: 'request' | 'auth_failed' | 'refused';
    readonly route: string;
    readonly status: number;
    readonly ms: number;
    readonly requestId: string;
    readonly address: string;
  }): void;
}
