// Checks a plugin's metric at assembly. The metrics registry would reject it only when the generation already serves.

const NAME = /^[a-z][a-z0-9_-]{0,62}$/;
/** A label name of Prometheus. Names with two leading underscores are reserved there. */
const LABEL = /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/;
/** The label that the host sets on every metric. */
const HOST_LABEL = 'project';
/** Metrics of the host whose name a plugin's slot could produce. */
const HOST_METRICS: readonly string[] = ['svc_plugin_failures_total'];

export interface MetricNames {
  readonly name: unknown;
  readonly help: unknown;
  /** The name in `/api/metrics`. */
  readonly id: string;
  readonly taken: readonly { readonly name: string }[];
}

/** The fault of a metric, or undefined. Pure. */
export function faultOfMetric({ name, help, id, taken }: MetricNames): string | undefined {
  if (taken.some((known) => known.name === id)) return 'is defined twice';
  if (typeof name !== 'string' || !NAME.test(name)) return 'is not a word of a-z, 0-9, _ and -';
  if (typeof help !== 'string' || help.trim() === '') return 'has no help';
  return HOST_METRICS.includes(id) ? `would be ${id}, which is the host's own` : undefined;
}

/** The fault of a counter's labels, or undefined. Pure. */
export function faultOfLabels(labels: unknown): string | undefined {
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels))
    return "has labels that are not names with their values: { kind: ['a', 'b'] }";
  for (const [label, values] of Object.entries(labels as Readonly<Record<string, unknown>>)) {
    if (!LABEL.test(label)) return `has the label ${label}: labels are of letters, digits and _`;
    if (label === HOST_LABEL) return `has the label ${label}, which the host sets on every metric`;
    if (!Array.isArray(values) || !values.every((value) => typeof value === 'string'))
      return `has the label ${label} without a list of its values, which are texts`;
  }
  return undefined;
}
