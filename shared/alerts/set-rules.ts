// Rules with the settings of `alerts.rules` in svc.config.yml.
import { readDuration } from '../time/duration.ts';
import type { SetRule } from './alert-machine.ts';
import type { Rule, Severity, Shape } from './rule.ts';
import { ACTIVE_RULES } from './rules.ts';

export interface RuleSettings {
  readonly for?: string | undefined;
  readonly threshold?: number | undefined;
  readonly severity?: Severity | undefined;
  readonly enabled?: boolean | undefined;
}

/** A rule as the host evaluates it. */
export type HostRule = Rule & SetRule;

/** Rules that a host can evaluate and that are not switched off. */
export function hostRules(settings: Readonly<Record<string, RuleSettings | undefined>> = {}): readonly HostRule[] {
  return ACTIVE_RULES.filter(({ name, shape }) => shape.kind !== 'prometheus' && settings[name]?.enabled !== false).map(
    (rule) => {
      const { for: wait = rule.for, threshold, severity = rule.severity } = settings[rule.name] ?? {};
      return {
        ...rule,
        severity,
        for: wait,
        forMs: readDuration(wait) ?? 0,
        shape: withThreshold(rule.shape, threshold),
      };
    },
  );
}

function withThreshold(shape: Shape, threshold: number | undefined): Shape {
  return threshold === undefined || shape.kind === 'prometheus' ? shape : { ...shape, threshold };
}
