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

/** By the name of the rule. */
export type RulesSettings = Readonly<Record<string, RuleSettings | undefined>>;

/** A rule as the host evaluates it. */
export type HostRule = Rule & SetRule;

/** Rules whose figures exist and that are not switched off, with their settings. */
export const setRules = (settings: RulesSettings = {}): readonly Rule[] =>
  ACTIVE_RULES.filter(({ name }) => settings[name]?.enabled !== false).map((rule) => {
    const { for: wait = rule.for, threshold, severity = rule.severity } = settings[rule.name] ?? {};
    return { ...rule, severity, for: wait, shape: withThreshold(rule.shape, threshold) };
  });

/** Those that a host can evaluate. */
export const hostRules = (settings?: RulesSettings): readonly HostRule[] =>
  setRules(settings)
    .filter(({ shape }) => shape.kind !== 'prometheus')
    .map((rule) => ({ ...rule, forMs: readDuration(rule.for) ?? 0 }));

const withThreshold = (shape: Shape, threshold: number | undefined): Shape =>
  threshold === undefined || shape.kind === 'prometheus' ? shape : { ...shape, threshold };
