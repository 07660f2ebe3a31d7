// The cases of the alerts as a file for `promtool test rules`.
import { stringify } from 'yaml';
import { anchorOf, type Rule } from '../../../shared/alerts/rule.ts';
import { RULES } from '../../../shared/alerts/rules.ts';
import {
  ALERT_CASES,
  type AlertCase,
  type Fed,
  firesAt,
  INSTANCE,
  notationOf,
  PROJECT,
  STEP_SECONDS,
} from './alert-cases.ts';
import { localAlerts } from './local-alerts.ts';

interface FileOptions {
  readonly rulesFile: string;
  readonly runbook: string;
  /** Minutes at which a case is looked at. */
  readonly minutes: (of: AlertCase) => readonly number[];
}

/** Around each change, and at the end: enough for a reader, and for a change of a rule to show. */
export const atChanges = ({ fires, minutes }: AlertCase): readonly number[] =>
  fires === undefined
    ? [minutes - 1]
    : [fires.from - 1, fires.from, fires.to, fires.to + 1].filter((minute) => minute < minutes);

export const everyMinute = ({ minutes }: AlertCase): readonly number[] =>
  Array.from({ length: minutes }, (_, at) => at);

export function promtoolFile({ rulesFile, runbook, minutes }: FileOptions): string {
  const document = {
    rule_files: [rulesFile],
    evaluation_interval: `${STEP_SECONDS}s`,
    tests: ALERT_CASES.map((one) => {
      const rule = ruleOf(one);
      const alerts = localAlerts(one, rule);
      return {
        name: `${one.rule}: ${one.title}`,
        interval: `${STEP_SECONDS}s`,
        input_series: one.series.map((fed) => ({ series: seriesText(fed), values: notationOf(fed) })),
        alert_rule_test: minutes(one).map((minute) => ({
          eval_time: `${minute}m`,
          alertname: one.rule,
          exp_alerts: firesAt(one, minute) ? [expected(one, rule, { runbook, value: alerts[minute]?.value })] : [],
        })),
      };
    }),
  };
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

function seriesText({ name, labels }: Fed): string {
  const all = { project: PROJECT, instance: INSTANCE, job: 'svc', ...labels };
  return `${name}{${Object.entries(all)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;
}

const ruleOf = ({ rule }: AlertCase): Rule => {
  const found = RULES.find(({ name }) => name === rule);
  if (found === undefined) throw new Error(`there is no rule ${rule}`);
  return found;
};

/** `value` is that of the host's own evaluator. */
function expected(
  { fires, runtimeId }: AlertCase,
  rule: Rule,
  { runbook, value = 0 }: { readonly runbook: string; readonly value: number | undefined },
) {
  const labels = fires?.labels ?? {};
  const shown = rule.shape.kind === 'ratio' ? `${Number((100 * value).toPrecision(4))}%` : value.toFixed(0);
  const filled = (text: string): string =>
    Object.entries({ ...labels, value: shown }).reduce(
      (done, [name, value]) => done.replaceAll(`{${name}}`, value),
      text,
    );
  return {
    exp_labels: {
      severity: rule.severity,
      project: PROJECT,
      instance: INSTANCE,
      ...(rule.shape.kind === 'prometheus' ? { job: 'svc' } : {}),
      ...labels,
    },
    exp_annotations: {
      summary: `${PROJECT}: ${filled(rule.summary)}`,
      description: filled(rule.description),
      remedy: filled(rule.remedy),
      runbook_url: `${runbook}#${anchorOf(rule)}`,
      runtime_id: runtimeId,
    },
  };
}
