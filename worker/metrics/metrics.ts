// Metrics of the host, as Prometheus text. Names are svc_<noun>_<unit>[_total].
// Label values come from closed sets and from the configuration (endpoint, plugin), never from people or platforms.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  combinations,
  GAP_REASONS,
  ITEM_KINDS,
  ITEM_OUTCOMES,
  type LabelValues,
  RESTART_REASONS,
  SEND_OUTCOMES,
  WEBHOOK_OUTCOMES,
} from './closed-labels.ts';
import { gaugeValue } from './gauge-value.ts';
import { noteRead } from './unread.ts';

/** Figures read from the database at each scrape. Unknown figures are left out. */
export interface StoredFigures {
  /** Seconds that the oldest open item has waited; 0 if there is none. */
  readonly inboxOldestSeconds: number;
  readonly inboxDead: number;
  readonly outboxPending: number;
  readonly outboxDead: number;
  readonly databaseBytes: number;
  /** Starts of a worker after the first, by the way its predecessor ended. */
  readonly restarts: Readonly<Record<string, number>>;
}

export interface EndpointFigures {
  readonly id: string;
  readonly online: boolean;
  readonly enabled: boolean;
  readonly required: boolean;
}

export interface MetricSources {
  /** The common label `project`. Read at each scrape, because a reload can change which secrets are masked in it. */
  readonly project: () => string;
  readonly ready: () => boolean;
  readonly generation: () => number;
  readonly stored: () => Promise<StoredFigures | undefined>;
  readonly streams: () => number;
  readonly inboxPending: () => { readonly items: number; readonly bytes: number } | undefined;
  readonly inboxRunning: () => number;
  readonly outboxRunning: () => number;
  readonly eventHead: () => number | undefined;
  readonly eventOldest: () => number | undefined;
  readonly endpoints: () => readonly EndpointFigures[];
  /** Accounts and plugins that take deliveries over HTTP. */
  readonly webhooks: () => readonly string[];
  /** Paths of the plugins. */
  readonly plugins: () => readonly string[];
  readonly disk: () => Promise<{ readonly usedBytes: number; readonly freeBytes: number }>;
  /** The bounds that `disk` of the configuration sets. */
  readonly diskLimits: () => { readonly maxBytes: number; readonly minFreeBytes: number };
  /** 1 or 0; undefined while unknown. */
  readonly ingressPaused: () => number | undefined;
  readonly logs: () => Readonly<Record<string, number>>;
}

const COMMIT_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export interface Build {
  readonly version: string;
  readonly runtimeId: string;
}

export function createMetrics(build: Build, sources: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  const gauge = gaugesOf(registry);
  const counter = <L extends string>(name: string, help: string, labels: LabelValues<L> = {} as never): Counter<L> =>
    new Counter({
      name,
      help,
      labelNames: Object.keys(labels) as L[],
      registers,
      collect() {
        for (const one of combinations(labels)) this.inc(one, 0);
      },
    });
  const endpoint = (): readonly string[] => sources.endpoints().map(({ id }) => id);
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; what runs here.',
    labelNames: ['version', 'runtime_id', 'node'],
    registers,
  }).set({ version: build.version, runtime_id: build.runtimeId, node: process.version }, 1);
  gauge('svc_ready', '1 when /pub/ready says so.', () => Number(sources.ready()));
  gauge('svc_generation', 'Number of the serving generation; 0 before the first.', sources.generation);
  storedMetrics(registry, gauge, sources.stored);
  gauge('svc_sse_clients', 'Open event streams.', sources.streams);
  gauge('svc_inbox_pending', 'Items of the inbox that are not done.', () => sources.inboxPending()?.items);
  gauge('svc_inbox_pending_bytes', 'Bytes of the items that are not done, in steps of 1,024.', () =>
    inSteps(sources.inboxPending()?.bytes),
  );
  gauge('svc_inbox_running_items', 'Items with a handler at work.', sources.inboxRunning);
  gauge('svc_outbox_running_items', 'Sends under way.', sources.outboxRunning);
  gauge('svc_event_head', 'Position of the newest event.', sources.eventHead);
  gauge('svc_event_oldest', 'Position of the oldest event that is kept.', sources.eventOldest);
  gauge('svc_state_bytes', 'Bytes of .svc/ and data/, in steps of 65,536.', async () =>
    inSteps((await sources.disk()).usedBytes, 65_536),
  );
  gauge('svc_disk_free_bytes', 'Free bytes of the file system of .svc/.', async () =>
    finite((await sources.disk()).freeBytes),
  );
  gauge(
    'svc_disk_min_free_bytes',
    'Ingress is refused below so many free bytes: disk.minFreeBytes.',
    () => sources.diskLimits().minFreeBytes,
  );
  gauge(
    'svc_state_limit_bytes',
    'Ingress is refused above so many bytes of state: disk.maxBytes.',
    () => sources.diskLimits().maxBytes,
  );
  gauge('svc_ingress_paused', '1 while an operator has paused ingress.', sources.ingressPaused);
  processMetrics(gauge);
  const ofEndpoints = (name: string, help: string, figure: Exclude<keyof EndpointFigures, 'id'>): void => {
    new Gauge({
      name,
      help,
      labelNames: ['endpoint'],
      registers,
      collect() {
        this.reset();
        for (const one of sources.endpoints()) this.set({ endpoint: one.id }, Number(one[figure]));
      },
    });
  };
  ofEndpoints('svc_endpoint_online', '1 while the account is online.', 'online');
  ofEndpoints('svc_endpoint_enabled', '0 while configuration or an operator has disabled the account.', 'enabled');
  ofEndpoints('svc_endpoint_required', '1 for an account in http.readiness.endpoints.', 'required');
  new Counter({
    name: 'svc_log_messages_total',
    help: 'Lines of log by level.',
    labelNames: ['level'],
    registers,
    collect() {
      this.reset();
      for (const [level, count] of Object.entries(sources.logs())) this.inc({ level }, count);
    },
  });
  return {
    registry,
    /** The Prometheus text of a scrape. */
    text: (): Promise<string> => {
      registry.setDefaultLabels({ project: sources.project() });
      return registry.metrics();
    },
    accepted: counter('svc_inbox_received_total', 'Items stored.', {
      endpoint,
      kind: () => ITEM_KINDS,
    }),
    duplicates: counter(
      'svc_inbox_duplicates_total',
      'Deliveries that were stored before; conflict: with another body.',
      { endpoint, conflict: () => ['true', 'false'] },
    ),
    handled: counter('svc_inbox_handled_total', 'Items by how they left their handlers.', {
      endpoint,
      outcome: () => ITEM_OUTCOMES,
    }),
    sends: counter(
      'svc_outbox_attempts_total',
      'Attempts to send by how they ended; put_off: none was used up, the host failed at what it needs (a file, room on the disk).',
      { endpoint, outcome: () => SEND_OUTCOMES },
    ),
    pressesRefused: counter(
      'svc_presses_refused_total',
      'Pressed buttons that are not of that conversation, or of nobody any more.',
      { endpoint },
    ),
    reactionsDropped: counter('svc_reactions_dropped_total', 'Reactions that were not made: the platform has none.', {
      endpoint,
    }),
    pluginFailures: counter('svc_plugin_failures_total', 'Handlers that threw.', { plugin: sources.plugins }),
    webhooks: counter(
      'svc_webhooks_total',
      'Deliveries over HTTP: accepted, duplicate (known already), ignored (nothing in it to handle), bad_signature, unparsable, rejected (ingress paused, or too much waits), failed.',
      { endpoint: sources.webhooks, outcome: () => WEBHOOK_OUTCOMES },
    ),
    gaps: counter('svc_sse_gaps_total', 'Gaps told to clients of the event stream, in it or by 410.', {
      reason: () => GAP_REASONS,
    }),
    slowCloses: counter('svc_sse_slow_closes_total', 'Streams closed because nothing was read.'),
    authFailures: counter(
      'svc_http_auth_failures_total',
      'Requests with a token that is not known; none at all, or one that reaches less far, is not among them.',
    ),
    commitSeconds: new Histogram({
      name: 'svc_commit_seconds',
      help: 'Time from handing in a group of units to its answer.',
      buckets: COMMIT_SECONDS,
      registers,
    }),
    commitUnits: counter('svc_commit_units_total', 'Units committed.'),
    commitFailures: counter('svc_commit_failures_total', 'Groups that could not be committed.'),
    requestSeconds: new Histogram({
      name: 'svc_http_request_seconds',
      help: 'Time of an answer; of an event stream: until it begins.',
      labelNames: ['route', 'code'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
  };
}
export type Metrics = ReturnType<typeof createMetrics>;

type Read = () => number | undefined | Promise<number | undefined>;
type AddGauge = (name: string, help: string, read: Read) => void;

const gaugesOf =
  (registry: Registry): AddGauge =>
  (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await read();
        noteRead(this, value !== undefined);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  };

/** The metrics of one scrape share one read of the database. */
function storedMetrics(registry: Registry, add: AddGauge, read: MetricSources['stored']): void {
  let reading: ReturnType<typeof read> | undefined;
  const figures = (): ReturnType<typeof read> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const gauge = (name: string, help: string, figure: Exclude<keyof StoredFigures, 'restarts'>): void =>
    add(name, help, async () => (await figures())?.[figure]);
  gauge('svc_inbox_oldest_seconds', 'How long the oldest open item has waited.', 'inboxOldestSeconds');
  gauge('svc_inbox_dead', 'Dead letters of the inbox.', 'inboxDead');
  gauge('svc_outbox_pending', 'Sends that are not over.', 'outboxPending');
  gauge(
    'svc_outbox_dead',
    'Sends that did not go out, or of which nobody knows; those that were dropped are not among them.',
    'outboxDead',
  );
  gauge('svc_database_bytes', 'Bytes of the database file and its log.', 'databaseBytes');
  new Counter({
    name: 'svc_restarts_total',
    help: 'Starts of a worker after the first, by how the one before had ended, whatever the owner.',
    labelNames: ['reason'],
    registers: [registry],
    async collect() {
      const stored = await figures();
      noteRead(this, stored !== undefined);
      this.reset();
      if (stored === undefined) return; // a counter that falls to 0 would count as a restart of its own
      for (const reason of RESTART_REASONS) this.inc({ reason }, 0);
      const { restarts } = stored;
      for (const [reason, count] of Object.entries(restarts)) this.inc({ reason }, count);
    },
  });
}

function processMetrics(gauge: AddGauge): void {
  const lag = monitorEventLoopDelay({ resolution: 50 });
  lag.enable();
  gauge('svc_event_loop_lag_seconds', 'Delay of the event loop since the last scrape, 99th percentile.', () => {
    const seconds = lag.percentile(99) / 1e9;
    lag.reset();
    return Number.isFinite(seconds) ? seconds : 0;
  });
  gauge('svc_process_resident_memory_bytes', 'Resident memory of the worker.', () => process.memoryUsage.rss());
  gauge('svc_process_cpu_seconds', 'Processor time of the worker.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('svc_process_uptime_seconds', 'Age of the worker.', () => process.uptime());
}

/** Rounded up, because demo scope reads metrics. The exact size of a single item or file could reveal its text. */
const inSteps = (bytes: number | undefined, step = 1_024): number | undefined =>
  bytes === undefined ? undefined : Math.ceil(bytes / step) * step;

/** Unknown room has no figure. */
const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);

/** A gauge registered by a plugin, under its full name. */
export interface PluginGauge {
  readonly name: string;
  readonly help: string;
  read(): number | Promise<number>;
}
/** A counter registered by a plugin, with the values of its labels. */
export interface PluginCounter {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

/** Metrics of plugins. Each generation replaces them. */
export class PluginMetrics {
  readonly #registry: Registry;
  readonly #counters = new Map<string, Counter>();
  readonly #labels = new Map<string, string>();
  readonly #gauges = new Set<string>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Counters keep their value over a reload. Gauges belong to the serving generation. */
  serve(counters: readonly PluginCounter[], gauges: readonly PluginGauge[]): void {
    for (const name of this.#gauges) this.#registry.removeSingleMetric(name);
    this.#gauges.clear();
    for (const { name, help, labels } of counters) {
      const labelNames = Object.keys(labels);
      let counter = this.#labels.get(name) === labelNames.join() ? this.#counters.get(name) : undefined;
      if (counter === undefined) {
        this.#registry.removeSingleMetric(name); // changed labels make a new counter
        counter = new Counter({ name, help, labelNames, registers: [this.#registry] });
        this.#labels.set(name, labelNames.join());
        this.#counters.set(name, counter);
      }
      for (const one of combinations(functionsOf(labels))) counter.inc(one, 0);
    }
    for (const { name, help, read } of gauges) {
      if (this.#counters.delete(name)) this.#registry.removeSingleMetric(name); // was a counter in the last generation
      this.#labels.delete(name);
      this.#gauges.add(name);
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        async collect() {
          this.set(await gaugeValue(read));
        },
      }); // prettier-ignore
    }
  }

  count(name: string, labels: Readonly<Record<string, string>>): void {
    this.#counters.get(name)?.inc({ ...labels });
  }
}

const functionsOf = (labels: PluginCounter['labels']): LabelValues<string> =>
  Object.fromEntries(Object.entries(labels).map(([name, values]) => [name, () => values]));
