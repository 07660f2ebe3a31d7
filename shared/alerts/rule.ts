// What a rule is made of. A rule is data: the host evaluates it, and the pack for Prometheus is written from it.

export type Severity = 'critical' | 'warning';

/** Labels that stay while the cause lasts. Every alert has `project` as well. */
export type KeptLabel = 'endpoint' | 'board' | 'binding' | 'job';

/** Figures of one name. `where` names the wanted values of a label; left out: all. Values with the same kept labels are added up. */
export interface Series {
  readonly name: string;
  readonly where?: Readonly<Record<string, readonly string[]>>;
}

/** True where the sum of `sum` is above or below `threshold`, times the figure `times` if there is one. */
export interface Comparison {
  readonly sum: readonly Series[];
  readonly is: 'above' | 'below';
  readonly threshold: number;
  readonly times?: Series;
}

export type Shape =
  /** A figure of now. All of `and` must be true too, none of `unless`. `or` is another cause of the same alert: its bound is fixed. */
  | (Comparison & {
      readonly kind: 'gauge';
      readonly and?: readonly Comparison[];
      readonly or?: Comparison;
      readonly unless?: Comparison;
    })
  /** How much a counter grew within the window, above `threshold`. */
  | { readonly kind: 'increase'; readonly of: Series; readonly window: string; readonly threshold: number }
  /** The part that `of` has in `all`, above `threshold` in each window, where `all` grew by `least` in the longest window. */
  | {
      readonly kind: 'ratio';
      readonly of: Series;
      readonly all: Series;
      /** The longest first. */
      readonly windows: readonly string[];
      readonly threshold: number;
      readonly least: number;
    }
  /** Only a monitoring system can see it: a host that is down evaluates nothing. */
  | { readonly kind: 'prometheus'; readonly expression: string };

export interface Rule {
  readonly name: string;
  readonly severity: Severity;
  /** How long the shape must be true without a break; `0s`: at once. */
  readonly for: string;
  readonly shape: Shape;
  readonly labels: readonly KeptLabel[];
  /** The warning that this critical alert says already, for the same labels. `*`: all of the project. */
  readonly mutes?: string;
  /** The feature whose figures do not exist yet. Such a rule is neither evaluated nor written into the pack. */
  readonly waitsFor?: 'agents';
  /** One line, with `{label}` and `{value}`. */
  readonly summary: string;
  readonly description: string;
  /** What to do first. */
  readonly remedy: string;
}

/** Heading of the rule in the runbook, as a link names it. */
export const anchorOf = ({ name }: Pick<Rule, 'name'>): string => name.toLowerCase();

/** In the project after `svc deploy init monitoring`, and in the package. */
export const RUNBOOK = 'deploy/monitoring/runbook.md';
/** The command that shows the section. It needs neither the pack in the project nor a host. */
export const runbookOf = ({ name }: Pick<Rule, 'name'>): string => `svc alerts show ${name}`;

/** True if the labels have the values that the selection names. */
export const isSelected = (labels: Readonly<Record<string, string>>, { where = {} }: Series): boolean =>
  Object.entries(where).every(([label, values]) => values.includes(labels[label] ?? ''));

/** Every selection of figures that a rule reads. */
export function seriesOf({ shape }: Pick<Rule, 'shape'>): readonly Series[] {
  const ofComparison = ({ sum, times }: Comparison): readonly Series[] => [
    ...sum,
    ...(times === undefined ? [] : [times]),
  ];
  if (shape.kind === 'prometheus') return [];
  if (shape.kind === 'increase') return [shape.of];
  if (shape.kind === 'ratio') return [shape.of, shape.all];
  return [shape, ...(shape.and ?? []), ...[shape.or, shape.unless].filter((one) => one !== undefined)].flatMap(
    ofComparison,
  );
}
