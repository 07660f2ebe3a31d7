// The life of alerts over minutes, without figures: a test says what each rule finds at each step.
import { type Alert, type Alerts, idOf, type SetRule, step } from '../../../shared/alerts/alert-machine.ts';
import type { Evaluated, Finding } from '../../../shared/alerts/evaluate.ts';
import { type Telling, tell } from '../../../shared/alerts/tell.ts';

/** `1` true, `0` false, `?` unknown, `h` held. */
export type Mark = '1' | '0' | '?' | 'h';

export interface LifeOptions {
  readonly rules: readonly SetRule[];
  readonly stepMs?: number;
  readonly repeatMs?: number;
  readonly isSilenced?: (alert: Alert, now: number) => boolean;
}

export interface Told {
  readonly at: number;
  readonly kind: Telling['kind'];
  readonly id: string;
}

export class AlertLife {
  readonly #options: LifeOptions;
  alerts: Alerts = new Map();
  now = 0;
  readonly told: Told[] = [];
  readonly changes: { readonly at: number; readonly kind: string; readonly id: string }[] = [];
  #notBefore = 0;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  /** What was stored is read anew, as by the next process. */
  restart(settleMs = 0): void {
    this.alerts = new Map(JSON.parse(JSON.stringify([...this.alerts])) as [string, Alert][]);
    this.#notBefore = this.now + settleMs;
  }

  /** One step; marks by the name of the rule, for the key `''`. */
  step(marks: Readonly<Record<string, Mark>>): readonly Told[] {
    const { rules, stepMs = 60_000, repeatMs = 4 * 3_600_000, isSilenced = () => false } = this.#options;
    const now = this.now;
    const evaluated = new Map(Object.entries(marks).map(([name, mark]) => [name, evaluatedOf(mark)]));
    const stepped = step(this.alerts, { now, rules, evaluated, notBefore: this.#notBefore });
    this.changes.push(...stepped.changes.map(({ kind, alert }) => ({ at: now, kind, id: idOf(alert) })));
    const told = tell(stepped.alerts, { now, rules, repeatMs, isSilenced: (alert) => isSilenced(alert, now) });
    this.alerts = told.alerts;
    const more = told.tellings.map(({ kind, alert }) => ({ at: now, kind, id: idOf(alert) }));
    this.told.push(...more);
    this.now += stepMs;
    return more;
  }

  /** A mark a step, of one rule. */
  run(name: string, marks: string): this {
    for (const mark of marks) this.step({ [name]: mark as Mark });
    return this;
  }

  /** `minute kind id`. */
  lines(): readonly string[] {
    return this.told.map(({ at, kind, id }) => `${at / 60_000} ${kind} ${id}`);
  }
}

function evaluatedOf(mark: Mark): Evaluated {
  const verdicts = { '1': 'true', h: 'held' } as const;
  const found = new Map<string, Finding>();
  if (mark === '1' || mark === 'h') found.set('', { labels: {}, verdict: verdicts[mark], value: 1 });
  return { found, isUnknown: mark === '?' };
}
