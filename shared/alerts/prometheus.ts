// The table of alert rules as a file of rules for Prometheus.
//
//   PROMETHEUS-1  An alert keeps `project`, `instance` and the labels of its rule. The id of the process is an annotation, which is looked up.
//   PROMETHEUS-2  A window counts by `increase`, so a counter that begins anew loses nothing. `increase` extends what it saw to the whole window:
//                 two crashes become 2.07. `floor` makes it the number that was counted.
//   PROMETHEUS-3  An alert resolves after five quiet minutes, as in the host. `keep_firing_for` is known to Prometheus 2.42 and later.
import { anchorOf, type Comparison, type KeptLabel, type Rule, type Series } from './rule.ts';

export interface RulesFileOptions {
  /** Address of the runbook; the heading of the alert is appended. */
  readonly runbook: string;
}

const QUIET = '5m';

/** Text of `alerts.yml`. */
export function prometheusRules(rules: readonly Rule[], options: RulesFileOptions): string {
  return (
    ['groups:', '  - name: svc', '    rules:', ...rules.flatMap((rule) => ruleLines(rule, options))].join('\n') + '\n'
  );
}

function ruleLines(rule: Rule, options: RulesFileOptions): readonly string[] {
  const annotations = annotationsOf(rule, options);
  return [
    `      - alert: ${rule.name}`,
    `        expr: ${quoted(expressionOf(rule))}`,
    ...(rule.for === '0s' ? [] : [`        for: ${rule.for}`]),
    `        keep_firing_for: ${QUIET}`,
    `        labels: { severity: ${rule.severity} }`,
    '        annotations:',
    ...Object.entries(annotations).map(([name, text]) => `          ${name}: ${quoted(text)}`),
  ];
}

/** A string of YAML that holds anything: one of JSON, or between single quotes where that needs no escapes. */
const quoted = (text: string): string =>
  text.includes('"') && !/['\n\\]/u.test(text) ? `'${text}'` : JSON.stringify(text);

export function expressionOf({ shape, labels }: Rule): string {
  const by = ['project', 'instance', ...labels].join(', ');
  switch (shape.kind) {
    case 'prometheus':
      return shape.expression;
    case 'increase':
      return `floor(${increase(shape.of, shape.window, by)}) > ${shape.threshold}`;
    case 'ratio': {
      const parts = shape.windows.map(
        (window) => `${increase(shape.of, window, by)} / ${increase(shape.all, window, by)} > ${shape.threshold}`,
      );
      return [...parts, `floor(${increase(shape.all, shape.windows[0] ?? '', by)}) >= ${shape.least}`].join(' and ');
    }
    case 'gauge': {
      const { and = [], or, unless } = shape;
      const of = (one: Comparison): string => comparison(one, by);
      const cause = or === undefined ? of(shape) : `(${of(shape)} or ${of(or)})`;
      return `${[cause, ...and.map(of)].join(' and ')}${unless === undefined ? '' : ` unless ${of(unless)}`}`;
    }
  }
}

function comparison({ sum, is, threshold, times }: Comparison, by: string): string {
  const value = sum.map((one) => `sum by (${by}) (${selector(one)})`).join(' + ');
  const bound = times === undefined ? `${threshold}` : `${threshold} * sum by (${by}) (${selector(times)})`;
  return `${value} ${is === 'above' ? '>' : '<'} ${bound}`;
}

const increase = (series: Series, window: string, by: string): string =>
  `sum by (${by}) (increase(${selector(series)}[${window}]))`;

function selector({ name, where = {} }: Series): string {
  const matchers = Object.entries(where).map(([label, values]) =>
    values.length === 1 ? `${label}="${values[0]}"` : `${label}=~"${values.join('|')}"`,
  );
  return matchers.length === 0 ? name : `${name}{${matchers.join(',')}}`;
}

/** The process of the project that runs, else the one that ran last within a day. */
const RUNTIME_ID = [
  '{{ with printf "svc_build_info{project=%q}" $labels.project | query }}{{ . | first | label "runtime_id" }}',
  '{{ else }}{{ with printf "topk(1, max_over_time(timestamp(svc_build_info{project=%q})[1d:1m]))" $labels.project | query }}',
  '{{ . | first | label "runtime_id" }}{{ end }}{{ end }}',
].join('');

function annotationsOf(rule: Rule, { runbook }: RulesFileOptions): Readonly<Record<string, string>> {
  return {
    summary: `{{ $labels.project }}: ${filled(rule.summary, rule)}`,
    description: filled(rule.description, rule),
    remedy: filled(rule.remedy, rule),
    runbook_url: `${runbook}#${anchorOf(rule)}`,
    runtime_id: RUNTIME_ID,
  };
}

/** Places of the table as those of a template of Prometheus. */
function filled(text: string, { shape, labels }: Rule): string {
  const value = shape.kind === 'ratio' ? '{{ $value | humanizePercentage }}' : '{{ printf "%.0f" $value }}';
  return labels
    .reduce((done: string, label: KeptLabel) => done.replaceAll(`{${label}}`, `{{ $labels.${label} }}`), text)
    .replaceAll('{value}', value);
}
