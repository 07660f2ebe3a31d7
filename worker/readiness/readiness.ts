// The readiness report, with the time since which each check has its result. Evaluated on every change and every 500 ms.

import type { ReadinessReport } from '../../shared/api/serving/readiness.ts';
import { READINESS_SCHEMA } from '../../shared/api/serving/readiness-schema.ts';
import type { Clock } from '../../shared/time/clock.ts';
import { evaluate, type Finding, type ReadinessFacts } from './evaluate.ts';

export interface ReadinessDeps {
  readonly clock: Clock;
  readonly facts: () => ReadinessFacts;
  readonly identity: () => Pick<ReadinessReport, 'project' | 'version' | 'runtimeId' | 'configVersion' | 'ingress'>;
  /** Called when `ready` or the state changes. */
  readonly changed: (report: ReadinessReport) => void;
}

export class Readiness {
  readonly #deps: ReadinessDeps;
  readonly #since = new Map<string, { readonly ready: boolean; readonly since: string }>();
  #phase: 'starting' | 'running' | 'draining' = 'starting';
  #last = '';

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  /** Until then the host is not ready, whatever the checks say: requests wait. */
  started(): void {
    if (this.#phase === 'starting') this.#phase = 'running';
    this.look();
  }

  draining(): void {
    this.#phase = 'draining';
    this.look();
  }

  get ready(): boolean {
    return this.#phase === 'running' && this.#findings().every(({ ready }) => ready);
  }

  /** Evaluates the checks and reports a change. */
  look(): void {
    const report = this.report();
    const now = `${report.ready}|${report.state}`;
    if (now === this.#last) return;
    this.#last = now;
    this.#deps.changed(report);
  }

  report(): ReadinessReport {
    const { clock, facts, identity } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    const findings = this.#findings();
    const checks = findings.map((finding) => ({ ...finding, since: this.#sinceOf(finding, at) }));
    const ready = this.#phase === 'running' && checks.every((check) => check.ready);
    const state = this.#phase === 'running' ? (ready ? 'ready' : 'not_ready') : this.#phase;
    return {
      schema: READINESS_SCHEMA,
      ready,
      state,
      generation: facts().generation,
      checkedAt: at,
      ...identity(),
      checks,
    };
  }

  #findings(): readonly Finding[] {
    return evaluate(this.#deps.facts());
  }

  #sinceOf({ component, check, ready }: Finding, at: string): string {
    const key = `${component}|${check}`;
    const known = this.#since.get(key);
    if (known?.ready === ready) return known.since;
    this.#since.set(key, { ready, since: at });
    return at;
  }
}
