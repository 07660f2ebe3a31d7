// What the HTTP interface asks of the host. `worker/host/app.ts` gives it; routes hold no rules of their own and see nothing else.
//
// Failures that a client should read are thrown as SvcError: its code gives status and title (shared/error-codes.ts).

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { ReadinessReport } from '../../shared/api/readiness.ts';
import type { IngressChange, IngressState } from '../../shared/api/runtime.ts';
import type { WebhookAddress } from '../../shared/api/webhook.ts';
import type { Secret } from '../../shared/secret.ts';
import type { IdempotencyStore, Keep } from './answer/kept-answer.ts';
import type { ChatApi } from './chat-api.ts';

export type { IdempotencyStore, Keep, KeptAnswer } from './answer/kept-answer.ts';
export type { ChatApi, ChatMessage, ChatTaken } from './chat-api.ts';

export type Scope = 'none' | 'demo' | 'full';

/** Who asks: kept as `actor` with what follows from the request. `token:<name>` over HTTP, `control` over the local socket, `offline` at the file. */
export interface Caller {
  readonly scope: 'demo' | 'full';
  readonly actor: string;
  readonly requestId: string;
}

export interface NamedToken {
  readonly name: string;
  readonly scope: 'demo' | 'full';
  readonly token: Secret;
}

/** Read at each request, because a reload changes them. */
export interface HttpSettings {
  readonly base: string;
  readonly tokens: readonly NamedToken[];
  readonly corsOrigins: readonly string[];
  /** Of `http.publicUrl`: what browsers send as this host's own, whatever a proxy makes of Host. */
  readonly publicOrigin: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly limits: {
    readonly connections: number;
    readonly connectionsPerAddress: number;
    readonly streamsPerToken: number;
    readonly bodyBytes: number;
  };
}

export interface RawDelivery {
  readonly method: string;
  /** Below `/webhooks/`: `<slot>`, `<slot>/<id>` or `<slot>/<name>`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly receivedAt: number;
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** At most one of the two. */
  readonly json?: unknown;
  readonly text?: string;
}

/** WebSockets that platforms open to us, at the addresses of their webhooks. */
export interface PlatformSockets {
  /** True where an account may be spoken to over a WebSocket. */
  takes(path: string): boolean;
  /** Verifies the request, before anything is switched; gives what completes the handshake. Throws SvcError. */
  open(delivery: RawDelivery): (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Those that are open now: they end with their accounts, not with the HTTP interface. */
  readonly count: number;
}

export interface PageRequest {
  readonly after: string | undefined;
  /** 1 to 200. */
  readonly limit: number;
  readonly state: string | undefined;
  readonly endpoint: string | undefined;
  /** False for demo: no texts, no names of people. */
  readonly texts: boolean;
}
export interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** Cursor of the next page; absent at the end. */
  readonly next?: string;
  readonly total: number;
}

export interface ProcessStatus {
  readonly [field: string]: unknown;
}

export interface NextGeneration {
  readonly generation: number;
  /** What can be said of its accounts without asking their platforms. */
  readonly warnings: readonly string[];
}

/** Another generation; or, where it cannot take a change in, another process. */
export type Reloaded = NextGeneration | 'restarts';

export interface ReloadOptions {
  readonly orRestart: boolean;
  /** Asked when its turn has come; false: `precondition_failed`. Left out: always. */
  readonly isMeant?: () => boolean;
  readonly keep?: Keep<Reloaded>;
}

/** A thing as it is shown after a change of it. */
type Shown = Readonly<Record<string, unknown>>;

/** A store of items that an operator looks at and acts on: inbox and outbox. */
export interface ItemStore {
  page(request: PageRequest): Promise<Page>;
  /** Throws `not_found`. The revision goes out as ETag. */
  show(
    id: string,
    texts: boolean,
  ): Promise<{ readonly item: Readonly<Record<string, unknown>>; readonly revision: string }>;
  /** Puts a dead (outbox: dead or unknown) item back in line. Throws `not_found`, `conflict`, `precondition_failed`. */
  replay(
    id: string,
    change: {
      readonly caller: Caller;
      readonly revision: string | undefined;
      readonly answer: 'again' | 'done' | undefined;
      readonly keep?: Keep<Shown>;
    },
  ): Promise<Shown>;
  /** An open item is not handled (outbox: not sent) until it is replayed. Throws as `replay` does. */
  hold(id: string, change: ReasonedChange): Promise<Shown>;
  drop(id: string, change: ReasonedChange): Promise<Shown>;
}

export interface ReasonedChange {
  readonly caller: Caller;
  readonly revision: string | undefined;
  readonly reason: string;
  readonly keep?: Keep<Shown>;
}

export interface EndpointPage {
  /** By id. */
  readonly endpoints: readonly Readonly<Record<string, unknown>>[];
  /** Cursor of the next page; absent at the end. */
  readonly next?: string;
  readonly total: number;
}

export interface EndpointControl {
  list(request: Pick<PageRequest, 'after' | 'limit' | 'texts'>): Promise<EndpointPage>;
  /** `id` is `<owner>:<name>` or the short `<name>`; `texts`: with what demo scope does not see. Throws `not_found`. */
  show(
    id: string,
    texts: boolean,
  ): Promise<{ readonly endpoint: Readonly<Record<string, unknown>>; readonly revision: string }>;
  act(
    id: string,
    action: 'enable' | 'disable' | 'reconnect',
    change: { readonly caller: Caller; readonly revision: string | undefined; readonly keep?: Keep<Shown> },
  ): Promise<Shown>;
}

export interface WebhookControl {
  list(): readonly WebhookAddress[];
  /** Tells the platform the address of this endpoint. Throws `not_found`, `conflict`, `endpoint_unavailable`, `platform_refused`. */
  register(id: string): Promise<WebhookAddress & { readonly done: string }>;
}

export interface StreamRequest {
  readonly caller: Caller;
  /** `Last-Event-ID`, which beats `?lastEventId=`. */
  readonly lastEventId: string | undefined;
  readonly types: string | undefined;
  readonly endpoints: string | undefined;
  readonly gap: 'oldest' | 'head' | 'fail';
}

export interface EventGateway {
  /** Takes over the response and streams until either side ends; to HEAD, headers alone. Throws SvcError before the first byte. */
  stream(request: IncomingMessage, response: ServerResponse, options: StreamRequest): Promise<void>;
  page(options: {
    readonly caller: Caller;
    readonly after: string | undefined;
    readonly limit: number;
    readonly types: string | undefined;
    readonly endpoints: string | undefined;
  }): Promise<Readonly<Record<string, unknown>>>;
  /** Completes the WebSocket handshake of an authenticated request. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): void;
  /** `<epoch>.<seq>` now: the header `Svc-Event-Position`, read before the data. */
  position(): string;
  /** Open streams of one token, for `streamsPerToken`. */
  openStreams(actor: string): number;
  /** Ends streams whose token is gone, after a reload: 1008. */
  closeRevoked(validActors: ReadonlySet<string>): void;
  drain(): Promise<void>;
}

export interface AskedOfIngress {
  /** Left out: any state. */
  readonly isMeant?: (state: IngressState) => boolean;
  readonly keep?: Keep<IngressState>;
}

export interface HostApi {
  settings(): HttpSettings;
  ready(): boolean;
  readiness(): ReadinessReport;
  status(): Promise<ProcessStatus>;
  /** Refuses with `no_restart_owner` or `too_many_requests`; otherwise the drain begins after the answer. */
  requestRestart(caller: Caller, keep?: Keep<'restarts'>): Promise<void>;
  reload(caller: Caller, options: ReloadOptions): Promise<NextGeneration>;
  /** Throws `storage_unavailable` while it is not known. */
  ingress(): IngressState;
  /** Throws `precondition_failed` where the state is not the one that is meant. */
  setIngress(caller: Caller, change: IngressChange, asked: AskedOfIngress): Promise<IngressState>;
  readonly inbox: ItemStore;
  readonly outbox: ItemStore;
  readonly endpoints: EndpointControl;
  readonly webhooks: WebhookControl;
  readonly events: EventGateway;
  readonly idempotency: IdempotencyStore;
  plugins(): {
    readonly plugins: readonly (Readonly<Record<string, unknown>> & { readonly capabilities: readonly string[] })[];
    /** Handlers in the order in which they are asked about what arrives. */
    readonly order: readonly (Readonly<Record<string, unknown>> & { readonly capability: string })[];
  };
  /** Effective configuration, secrets masked, with the source of each value. */
  config(): Readonly<Record<string, unknown>>;
  logs(options: {
    readonly lines: number;
    readonly level: string | undefined;
    readonly endpoint: string | undefined;
    readonly since: string | undefined;
  }): Promise<readonly unknown[]>;
  /** Prometheus text exposition format 0.0.4. */
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The generation that serves, and why the newest configuration does not, where that is so. */
  serving(): {
    readonly generation: number | null;
    readonly lastFailure?: { readonly code: string; readonly reason: string | null } | null;
  };
  /** Throws `endpoint_unavailable` while no generation serves. */
  refuseUnlessServing(): void;
  /** How many bytes a delivery to this path may have, or undefined when nothing is there. */
  webhookLimit(path: string): number | undefined;
  /** What answers a GET at this path; undefined where nothing does. */
  webhookChallenge(path: string): ((delivery: RawDelivery) => HttpReply) | undefined;
  /** Verifies, stores, then answers. */
  deliver(delivery: RawDelivery): Promise<HttpReply>;
  readonly platformSockets: PlatformSockets;
  /** A plugin's own route below `<base>/plugins/<slot>`; `path` starts with a slash; HEAD comes as GET; a method that is not there gives `allow`; undefined when there is none; `scope` is checked by the caller first. */
  pluginRoute(
    method: string,
    slot: string,
    path: string,
  ):
    | { readonly scope: Scope; run(delivery: RawDelivery): Promise<HttpReply> }
    | { readonly allow: readonly string[] }
    | undefined;
  /** The file behind a signed link. Throws `link_invalid`, `link_expired`, `not_found`. */
  openFile(link: {
    readonly id: string;
    readonly name: string | undefined;
    readonly expires: string | undefined;
    readonly signature: string | undefined;
  }): Promise<OpenFile>;
  /** What people write on the chat page and in `svc chat`; answers come over the event stream and `chatHistory`. */
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

/** A stored file, open; whoever asked for it closes it. */
export interface OpenFile {
  /** One line without controls. */
  readonly name: string;
  readonly mime: string;
  readonly bytes: number;
  content(): Readable;
  close(): Promise<void>;
}
