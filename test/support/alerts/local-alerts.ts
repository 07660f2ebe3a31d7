// A case of the alerts, seen by the host's own evaluator.
import { type Alert, type Alerts, step } from '../../../shared/alerts/alert-machine.ts';
import { evaluate } from '../../../shared/alerts/evaluate.ts';
import type { History } from '../../../shared/alerts/history.ts';
import type { Rule } from '../../../shared/alerts/rule.ts';
import { readDuration } from '../../../shared/time/duration.ts';
import { type AlertCase, STEP_SECONDS, valuesOf } from './alert-cases.ts';

const STEP_MS = STEP_SECONDS * 1_000;
/** One hour, as in a host. */
const KEPT = 3_600 / STEP_SECONDS + 1;

/** The alert of the case at each minute; undefined where it does not fire. */
export function localAlerts({ series, minutes }: AlertCase, rule: Rule): readonly (Alert | undefined)[] {
  const fed = series.map((one) => ({ name: one.name, labels: one.labels, values: valuesOf(one) }));
  const rules = [{ name: rule.name, severity: rule.severity, forMs: readDuration(rule.for) ?? 0 }];
  const seen: (Alert | undefined)[] = [];
  let alerts: Alerts = new Map();
  for (let at = 0; at < (minutes * 60) / STEP_SECONDS; at += 1) {
    const from = Math.max(0, at + 1 - KEPT);
    const steps = Array.from({ length: at + 1 - from }, (_, index) => from + index);
    const history: History = {
      times: steps.map((index) => index * STEP_MS),
      of: (name) =>
        fed
          .filter((one) => one.name === name)
          .map(({ labels, values }) => ({ labels, values: steps.map((index) => values[index] ?? Number.NaN) })),
    };
    const evaluated = new Map([[rule.name, evaluate(rule, history)]]);
    ({ alerts } = step(alerts, { now: at * STEP_MS, rules, evaluated }));
    if ((at * STEP_SECONDS) % 60 === 0) seen.push([...alerts.values()].find(({ phase }) => phase === 'firing'));
  }
  return seen;
}
