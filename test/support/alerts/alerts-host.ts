// An engine with alerts, over figures that the test sets, a clock that it moves, and a platform in memory with the accounts `memory~a`
// and `memory~b`.
import type { Labels, Reading } from '../../../shared/alerts/history.ts';
import { Alerts, type AlertsDeps } from '../../../worker/alerts/index.ts';
import { laneOf } from '../../../worker/outbox/outbox-store.ts';
import { type EngineHost, engineHost, type HostOptions } from '../hosts/engine-host.ts';

interface Test {
  after(run: () => void | Promise<void>): void;
}

export interface AlertsHostOptions extends Partial<HostOptions> {
  readonly alerts?: object;
  /** The process is killed when it first passes this point. */
  readonly killAt?: string;
  /** Reads figures in place of those that the test sets. */
  readonly read?: (host: EngineHost) => AlertsDeps['figures'];
}

export interface AlertsHost {
  readonly host: EngineHost;
  readonly alerts: Alerts;
  /** Names that a release makes true. */
  expected: ReadonlySet<string>;
  isKilled: boolean;
  /** Figures as they are from now on, by name. */
  set(name: string, value: number | undefined, labels?: Labels): void;
  /** Figures that cannot be read from now on. */
  lose(...names: readonly string[]): void;
  /** Messages that arrived at the platform, as `account conversation: text`. */
  told(): readonly string[];
  /** The next process. */
  restart(options?: AlertsHostOptions): Promise<AlertsHost>;
}

export const ACCOUNT = 'root/memory:memory~a';
const NOTIFY = [{ endpoint: 'memory~a', conversation: 'ops' }];

export async function alertsHost(
  t: Test,
  options: AlertsHostOptions = {},
  figures: Map<string, Reading> = new Map(),
): Promise<AlertsHost> {
  let lost: readonly string[] = [];
  const { alerts: settings = {}, killAt, read, ...rest } = options;
  const made = { expected: new Set<string>() as ReadonlySet<string>, isKilled: false };
  let alerts: Alerts | undefined;
  const host = await engineHost(t, {
    config: {
      plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } },
      alerts: { notify: NOTIFY, ...settings },
    },
    ...rest,
    isIdle: () => made.isKilled || alerts?.isIdle !== false,
    async beforeStart(running) {
      const { core, engine } = running;
      const startedAt = core.clock.now() - 20_000;
      alerts = new Alerts({
        core,
        config: () => engine.runtime.loaded.config,
        project: () => 'test',
        figures:
          read?.(running) ??
          (async () => ({
            readings: [...figures.values()].filter(({ name }) => !lost.includes(name)),
            unread: lost,
          })),
        startedAt: () => startedAt,
        expected: async () => made.expected,
        generation: () => engine.runtime.current,
        isDisabled: () => false,
        decide: (decided, commit) => engine.decide(decided, commit),
        dropped: ({ endpoint, conversation, rows }) => {
          for (const { id } of rows) engine.sender.dropped(laneOf(endpoint, conversation), id);
        },
      });
    },
    point(name, running) {
      if (name !== killAt || made.isKilled) return undefined;
      made.isKilled = true;
      running.kill();
      return new Promise<void>(() => {});
    },
  });
  const running = alerts;
  if (running === undefined) throw new Error('the host has no alerts');
  running.start();
  await host.quiet();
  return Object.assign(made, {
    host,
    alerts: running,
    set: (name: string, value: number | undefined, labels: Labels = {}) => {
      const key = `${name}${JSON.stringify(labels)}`;
      if (value === undefined) figures.delete(key);
      else figures.set(key, { name, labels, value });
    },
    lose: (...names: readonly string[]) => {
      lost = names;
    },
    told: () =>
      host.platform.calls.map(({ endpoint, call }) => {
        const text = 'text' in call ? String((call as { text: unknown }).text) : '';
        return `${endpoint.split('~')[1]} ${call.conversation}: ${text}`;
      }),
    async restart({ killAt: next, ...more }: AlertsHostOptions = {}) {
      if (!made.isKilled) {
        await running.stop();
        await host.stop();
      }
      host.clock.clear();
      const { project, platform, clock } = host;
      return alertsHost(
        t,
        {
          alerts: settings,
          ...rest,
          project,
          platform,
          clock,
          ...(next === undefined ? {} : { killAt: next }),
          ...more,
        },
        figures,
      );
    },
  });
}
