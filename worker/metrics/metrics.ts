// What the host counts, as Prometheus text. Names are svc_<noun>_<unit>[_total]; labels come from closed sets and from the
// configuration (endpoint, plugin), never from what people or platforms send.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PluginCounter, PluginGauge } from '../runtime/setup.ts';

export interface MetricSources {
  readonly ready: () => boolean;
  readonly generation: () => number;
  readonly restarts: () => number;
  readonly inboxPending: () => { readonly items: number; readonly bytes: number };
  readonly inboxRunning: () => number;
  readonly outboxRunning: () => number;
  readonly eventHead: () => number;
  readonly eventOldest: () => number;
  readonly endpoints: () => readonly { readonly id: string; readonly online: boolean }[];
  readonly disk: () => { readonly usedBytes: number; readonly freeBytes: number };
  readonly ingressPaused: () => boolean;
  readonly logs: () => Readonly<Record<string, number>>;
}

const COMMIT_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function createMetrics(build: { readonly version: string; readonly runtimeId: string }, sources: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    }); // prettier-ignore
  };
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; what runs here.',
    labelNames: ['version', 'runtime_id', 'node'],
    registers,
  }).set({ version: build.version, runtime_id: build.runtimeId, node: process.version }, 1);
  gauge('svc_ready', '1 when /pub/ready says so.', () => Number(sources.ready()));
  gauge('svc_generation', 'Number of the serving generation; 0 before the first.', sources.generation);
  gauge('svc_inbox_pending_items', 'Items of the inbox that are not done.', () => sources.inboxPending().items);
  gauge('svc_inbox_pending_bytes', 'Bytes of the items that are not done.', () => sources.inboxPending().bytes);
  gauge('svc_inbox_running_items', 'Items with a handler at work.', sources.inboxRunning);
  gauge('svc_outbox_running_items', 'Sends under way.', sources.outboxRunning);
  gauge('svc_event_head', 'Position of the newest event.', sources.eventHead);
  gauge('svc_event_oldest', 'Position of the oldest event that is kept.', sources.eventOldest);
  gauge('svc_state_bytes', 'Bytes of .svc/ and data/.', () => sources.disk().usedBytes);
  gauge('svc_disk_free_bytes', 'Free bytes of the file system of .svc/.', () => finite(sources.disk().freeBytes));
  gauge('svc_ingress_paused', '1 while an operator has paused ingress.', () => Number(sources.ingressPaused()));
  gauge('svc_process_resident_memory_bytes', 'Resident memory of the worker.', () => process.memoryUsage.rss());
  new Gauge({
    name: 'svc_endpoint_online',
    help: '1 while the account is online.',
    labelNames: ['endpoint'],
    registers,
    collect() {
      this.reset();
      for (const { id, online } of sources.endpoints()) this.set({ endpoint: id }, Number(online));
    },
  });
  new Counter({
    name: 'svc_restarts_total',
    help: 'Starts of a worker after the first, whatever the owner.',
    registers,
    collect() {
      this.reset();
      this.inc(sources.restarts());
    },
  }); // prettier-ignore
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
    accepted: counter('svc_inbox_received_total', 'Items stored.', ['endpoint', 'kind']),
    duplicates: counter(
      'svc_inbox_duplicates_total',
      'Deliveries that were stored before; conflict: with another body.',
      ['endpoint', 'conflict'],
    ),
    handled: counter('svc_inbox_handled_total', 'Items by how they left their handlers.', ['endpoint', 'outcome']),
    sends: counter('svc_outbox_attempts_total', 'Attempts to send by how they ended.', ['endpoint', 'outcome']),
    pluginFailures: counter('svc_plugin_failures_total', 'Handlers that threw.', ['plugin']),
    signatures: counter('svc_webhook_refused_total', 'Deliveries with a wrong signature.', ['endpoint']),
    gaps: counter('svc_sse_gaps_total', 'Gaps told to clients of the event stream.', ['reason']),
    slowCloses: counter('svc_sse_slow_closes_total', 'Streams closed because nothing was read.'),
    authFailures: counter('svc_http_auth_failures_total', 'Requests with a wrong token.'),
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
      help: 'Time of an answer.',
      labelNames: ['route', 'code'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
  };
}
export type Metrics = ReturnType<typeof createMetrics>;

const finite = (value: number): number => (Number.isFinite(value) ? value : -1);

/** Metrics of one generation's plugins; they go with it. */
export class PluginMetrics {
  readonly #registry: Registry;
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Set<string>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Counters keep their value over a reload; gauges are those of the generation that serves. */
  serve(counters: readonly PluginCounter[], gauges: readonly PluginGauge[]): void {
    for (const name of this.#gauges) this.#registry.removeSingleMetric(name);
    this.#gauges.clear();
    for (const { name, help, labels } of counters) {
      if (!this.#counters.has(name))
        this.#counters.set(
          name,
          new Counter({ name, help, labelNames: Object.keys(labels), registers: [this.#registry] }),
        );
    }
    for (const { name, help, read } of gauges) {
      this.#gauges.add(name);
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        async collect() {
          this.set(await read());
        },
      }); // prettier-ignore
    }
  }

  count(name: string, labels: Readonly<Record<string, string>>): void {
    this.#counters.get(name)?.inc({ ...labels });
  }
}
