// The alerts of the host, wired: figures from the registry, sends through the accounts of the serving generation. Loaded half a minute after
// the start, or by the first question: a start does not wait for it. After a crash it is looked at once: a worker that crashes again within half a
// minute would never tell of it.
import { existsSync } from 'node:fs';
import type { Severity } from '../../../shared/alerts/rule.ts';
import type { Config } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import type { Timer } from '../../../shared/time/clock.ts';
import type { Alerts, AlertsDeps } from '../../alerts/index.ts';
import type { Core } from '../../core/core.ts';
import type { Engine } from '../../engine/engine.ts';
import type { AlertsApi } from '../../http/api/alerts-api.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { laneOf } from '../../outbox/outbox-store.ts';

export interface AlertsHostDeps {
  readonly core: Core;
  readonly engine: () => Engine;
  /** Folder of the project. */
  readonly project: string;
  /** The host's name without secrets. */
  readonly name: () => string;
  readonly registry: () => Metrics['registry'];
  readonly startedAt: () => number;
}

const FIRST_LOOK_MS = 30_000;
const AFTER_CRASH_MS = 1_000;

export class AlertsHost {
  readonly #deps: AlertsHostDeps;
  #loading: Promise<Alerts> | undefined;
  /** For the metric, which loads nothing. */
  #loaded: Alerts | undefined;
  #adminOf: AlertsApi | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(deps: AlertsHostDeps) {
    this.#deps = deps;
  }

  /** Called once the database is open. */
  start({ hasCrashed }: { readonly hasCrashed: boolean }): void {
    this.#timer = this.#deps.core.clock.after(
      hasCrashed ? AFTER_CRASH_MS : FIRST_LOOK_MS,
      () => {
        void this.#load().then(
          (alerts) => {
            if (!this.#isStopped) alerts.start();
          },
          (error: unknown) => this.#deps.core.log.error({ err: error }, 'alerts could not be loaded: none is told'),
        );
      },
      { background: true },
    );
  }

  /** Firing alerts by severity. Undefined before the first look. */
  firing(): Readonly<Record<Severity, number>> | undefined {
    return this.#loaded?.lookedAt === undefined ? undefined : this.#loaded.firing();
  }

  /** Names of critical alerts that fire, and of critical rules of which nobody knows. Looks first where nobody has. */
  async critical(): Promise<{ readonly critical: string[]; readonly unknown: string[] }> {
    const alerts = await this.#load();
    await alerts.firstLook();
    return { critical: [...alerts.critical()], unknown: [...alerts.unknownCritical()] };
  }

  readonly api: AlertsApi = {
    list: async (texts) => (await this.#admin()).list(texts),
    figures: async (names) => (await this.#admin()).figures(names),
    silence: async (caller, ask, keep) => (await this.#admin()).silence(caller, ask, keep),
    unsilence: async (caller, ask, keep) => (await this.#admin()).unsilence(caller, ask, keep),
    test: async (caller, ask, keep) => (await this.#admin()).test(caller, ask, keep),
  };

  async #admin(): Promise<AlertsApi> {
    const alerts = await this.#load();
    this.#adminOf ??= (await import('../../alerts/index.ts')).createAlertsAdmin(this.#deps.core, alerts);
    return this.#adminOf;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await (await this.#loading)?.stop();
  }

  #load(): Promise<Alerts> {
    this.#loading ??= this.#make();
    return this.#loading;
  }

  async #make(): Promise<Alerts> {
    const { Alerts } = await import('../../alerts/index.ts');
    this.#loaded = new Alerts(await alertsDeps(this.#deps));
    return this.#loaded;
  }
}

async function alertsDeps({ core, engine, project, name, registry, startedAt }: AlertsHostDeps): Promise<AlertsDeps> {
  const { expectedIn, figureReader } = await import('../../alerts/index.ts');
  return {
    core,
    config: (): Config => engine().runtime.loaded.config,
    project: name,
    figures: figureReader(registry()),
    startedAt,
    expected: async () => expectedIn(await openRelease(project), core.clock.now()),
    generation: () => engine().runtime.current,
    isDisabled: (endpoint) =>
      engine()
        .endpoints.all()
        .some(({ spec: { id }, state: { state } }) => id === endpoint && state === 'disabled'),
    decide: (decided, commit) => engine().decide(decided, commit),
    dropped: ({ endpoint, conversation, rows }) => {
      for (const { id } of rows) engine().sender.dropped(laneOf(endpoint, conversation), id);
    },
  };
}

/** Undefined without one, and where its record cannot be read: then nothing is expected. */
async function openRelease(project: string) {
  if (!existsSync(projectPaths(project).releasesDir)) return undefined;
  const { newestRelease } = await import('../../../shared/recovery/release-record.ts');
  return newestRelease(project)?.record;
}
