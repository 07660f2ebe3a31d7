// The host as one object for the HTTP interface. Rules are elsewhere: each call goes to the responsible part.
import { effectiveValues, maskedConfig } from '../../shared/config/effective.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import { isAtLeast } from '../../shared/log/log-line.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { DatabaseState } from '../database/database-host.ts';
import { createEndpointControl } from '../endpoints/endpoint-control.ts';
import type { Engine } from '../engine/engine.ts';
import type { AcceptanceApi } from '../http/api/acceptance-api.ts';
import type { AlertsApi } from '../http/api/alerts-api.ts';
import type { HttpSettings, NamedToken } from '../http/api/caller.ts';
import type { CheckpointsApi } from '../http/api/checkpoints-api.ts';
import type { EventGateway } from '../http/api/events-api.ts';
import type { HostApi } from '../http/api/host-api.ts';
import type { IngressApi } from '../http/api/ingress-api.ts';
import type { JobsApi } from '../http/api/jobs-api.ts';
import type { ReleasesApi } from '../http/api/releases-api.ts';
import type { SystemApi } from '../http/api/system-api.ts';
import { createInboxAdmin } from '../inbox/inbox-admin.ts';
import { createIdempotency } from '../ingress/idempotency.ts';
import { RefusalLog } from '../ingress/refusal-log.ts';
import { createWebhookControl, publicAddress } from '../ingress/webhook-addresses.ts';
import { createWebhookSockets } from '../ingress/webhook-sockets.ts';
import { Webhooks } from '../ingress/webhooks.ts';
import { reopenRuns } from '../jobs/reopen-runs.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createOutboxAdmin } from '../outbox/outbox-admin.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { askedOrder } from '../runtime/generations/asked-order.ts';
import { shownFailure } from '../runtime/generations/last-failure.ts';
import { createPluginRoutes } from '../runtime/generations/plugin-routes.ts';
import { createSandboxChat, type SandboxView } from '../sandbox/sandbox-chat.ts';
import { createTaskControl } from '../timers/task-control.ts';
import type { AppOptions } from './app-options.ts';
import type { WorkroomHost } from './workroom.ts';

export interface HostApiDeps {
  readonly options: AppOptions;
  readonly engine: Engine;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly storage: () => DatabaseState;
  /** Undefined without a database. */
  readonly events: () => EventGateway | undefined;
  readonly status: () => Promise<Readonly<Record<string, unknown>>>;
  readonly admit: () => void;
  readonly reload: SystemApi['reload'];
  readonly requestRestart: SystemApi['requestRestart'];
  readonly sandbox: SandboxView;
  readonly workroom: WorkroomHost;
  readonly jobs: JobsApi;
  readonly checkpoints: CheckpointsApi;
  readonly releases: ReleasesApi;
  readonly acceptance: AcceptanceApi;
  readonly alerts: AlertsApi;
  readonly ingress: IngressApi;
}

export function createHostApi(deps: HostApiDeps): HostApi {
  const { engine, readiness, metrics, options } = deps;
  const { core, runtime, gate, inbox, dispatcher, sender } = engine;
  const loaded = (): LoadedConfig => runtime.loaded;
  const webhooks = new Webhooks({
    core,
    endpoints: engine.endpoints,
    inbox,
    gate,
    generation: () => runtime.current,
    admit: deps.admit,
    observe: ({ endpoint, kind }) => metrics.webhooks.inc({ endpoint, outcome: kind }),
    failed: (failed) => engine.pluginFailed(failed),
  });
  const refusals = new RefusalLog(core);
  const sandboxEndpoint = () => engine.endpoints.all().find(({ spec }) => spec.adapter.name === 'sandbox');
  const chat = createSandboxChat({
    core,
    inbox,
    gate,
    admit: deps.admit,
    endpoint: sandboxEndpoint,
    sandbox: deps.sandbox,
  });
  return {
    settings: () => settings(loaded()),
    system: {
      ready: () => readiness.ready,
      readiness: () => readiness.report(),
      status: deps.status,
      requestRestart: deps.requestRestart,
      reload: deps.reload,
      plugins() {
        const candidate = runtime.current?.candidate;
        return {
          plugins: candidate?.plugins.map((plugin) => ({ ...plugin })) ?? [],
          order: candidate === undefined ? [] : askedOrder(candidate.capabilities).map((asked) => ({ ...asked })),
        };
      },
      config() {
        const secrets = options.log.secrets.values;
        return {
          version: loaded().version,
          config: maskedConfig(loaded(), secrets),
          values: effectiveValues(loaded(), secrets),
        };
      },
      logs: async (wanted) => readLogs(options, wanted),
      metrics: async () => ({ contentType: metrics.registry.contentType, text: await metrics.text() }),
      serving: () => ({
        generation: runtime.current?.number ?? null,
        lastFailure: shownFailure(runtime, deps.storage()),
      }),
      refuseUnlessServing() {
        if (runtime.current === undefined)
          throw new SvcError('endpoint_unavailable', 'no plugin and no account is served now', {
            hint: '`svc runtime status` says why.',
            details: { retryAfterMs: 2_000 },
          });
      },
    },
    ingress: deps.ingress,
    deliveries: {
      limit: (path) => webhooks.limit(path),
      challenge: (path) => webhooks.challenge(path),
      deliver: (delivery) => webhooks.deliver(delivery),
      sockets: createWebhookSockets({ find: (path) => webhooks.socket(path) }),
      pluginRoute: createPluginRoutes({
        context: engine.context,
        generation: () => runtime.current,
        admit: () => {
          deps.admit();
          gate.refuseWhenPaused();
        },
        decide: engine.decide,
        failed: (failed) => engine.pluginFailed(failed),
      }),
    },
    files: {
      open: async (link) => {
        if (engine.links === undefined) throw new SvcError('not_found', 'this host has no links to files');
        const { id, name } = engine.links.verify(link);
        const file = await engine.files.open(id);
        if (file === undefined) throw new SvcError('not_found', 'this file is not kept any more');
        return { ...file, name };
      },
    },
    inbox: createInboxAdmin({ core, inbox, dispatcher, room: () => inbox.room, reopen: reopenRuns }),
    outbox: createOutboxAdmin({ core, sender }),
    tasks: createTaskControl(core),
    jobs: deps.jobs,
    checkpoints: deps.checkpoints,
    releases: deps.releases,
    acceptance: deps.acceptance,
    alerts: deps.alerts,
    endpoints: createEndpointControl(core, engine.endpoints),
    webhooks: createWebhookControl({
      core,
      endpoints: engine.endpoints,
      generation: () => runtime.current,
      address: () => publicAddress(loaded()),
    }),
    get events() {
      return deps.events() ?? NO_EVENTS;
    },
    idempotency: createIdempotency(core),
    get workroom() {
      return deps.workroom.api;
    },
    get chat() {
      return sandboxEndpoint() === undefined ? undefined : chat;
    },
    observe: ({ kind, route, status, ms, address, requestId }) => {
      if (kind === 'auth_failed') metrics.authFailures.inc();
      if (kind === 'auth_failed' || (kind === 'refused' && status === 403))
        refusals.token({ address, route, status, requestId });
      metrics.requestSeconds.observe({ route, code: `${Math.floor(status / 100)}xx` }, ms / 1_000);
    },
  };
}

/** Cached per configuration, because each request asks for it. */
const settings = memoized(settingsOf);

function memoized<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      known.set(key, value);
    }
    return value;
  };
}

function settingsOf({ config }: LoadedConfig): HttpSettings {
  const { base, token, demoToken, tokens, corsOrigins, publicUrl = '', trustedProxies, limits } = config.http;
  const publicOrigin = URL.canParse(publicUrl) ? new URL(publicUrl).origin : undefined;
  const named: NamedToken[] = [
    { name: 'full', scope: 'full', token },
    ...(demoToken === undefined ? [] : [{ name: 'demo', scope: 'demo', token: demoToken } as const]),
    ...tokens,
  ];
  return { base, tokens: named, corsOrigins, publicOrigin, trustedProxies, limits };
}

function readLogs(
  { log }: AppOptions,
  { lines, level, endpoint, since }: Parameters<SystemApi['logs']>[0],
): readonly unknown[] {
  const from = since === undefined ? undefined : Date.parse(since);
  const parsed = log.recent(0).lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as { readonly level?: string; readonly endpoint?: string; readonly time?: string }];
    } catch {
      return [];
    }
  });
  const wanted = parsed.filter(
    (line) =>
      (level === undefined || isAtLeast(line.level ?? 'info', level)) &&
      (endpoint === undefined || line.endpoint === endpoint || line.endpoint?.endsWith(`:${endpoint}`) === true) &&
      (from === undefined || Date.parse(line.time ?? '') >= from),
  );
  return wanted.slice(-lines);
}

const unavailable = (): never => {
  throw new SvcError('storage_unavailable', 'the event history cannot be read: the database is not open', {
    details: { retryAfterMs: 2_000 },
  });
};
/** Stands in while there is no database. Every use throws `storage_unavailable`. */
const NO_EVENTS: EventGateway = {
  stream: async () => unavailable(),
  page: async () => unavailable(),
  upgrade: unavailable,
  position: () => '',
  openStreams: () => 0,
  closeRevoked: () => {},
  drain: async () => {},
};
