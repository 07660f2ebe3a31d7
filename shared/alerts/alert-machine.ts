// The life of alerts, and what is told of them. Pure: a step takes what the rules say now, and gives the next state and what to tell.
//
//   ALERT-5  An alert fires once its rule was true for `for` without a break, and resolves after five quiet minutes. While its rule is unknown
//            it does neither.
//   ALERT-6  What is told is part of the state, so whoever stores both in one unit tells nothing twice.
//   ALERT-7  Four changes within an hour are told once, as flapping, until nothing changes for an hour.
//   ALERT-8  A critical alert that fires mutes the warning of the same labels. A silenced alert is not told either.
import type { Evaluated } from './evaluate.ts';
import type { Labels } from './history.ts';
import type { Severity } from './rule.ts';

/** A rule with the settings of the configuration. */
export interface SetRule {
  readonly name: string;
  readonly severity: Severity;
  readonly forMs: number;
  readonly mutes?: string | undefined;
}

export interface Alert {
  readonly name: string;
  /** Values of its labels; empty without labels. */
  readonly key: string;
  readonly labels: Labels;
  readonly severity: Severity;
  readonly phase: 'pending' | 'firing' | 'resolved';
  /** Since when the rule is true without a break. */
  readonly since: number;
  readonly firedAt: number | null;
  /** Since when the rule of an alert that fires is false. */
  readonly quietSince: number | null;
  readonly value: number;
  /** What was told last, and is not ended by a later telling. */
  readonly told: 'firing' | 'flapping' | null;
  readonly toldAt: number | null;
  /** Times at which it fired or resolved, within the last hour. */
  readonly changes: readonly number[];
  readonly isFlapping: boolean;
}

/** By `idOf`. */
export type Alerts = ReadonlyMap<string, Alert>;

export const idOf = ({ name, key }: Pick<Alert, 'name' | 'key'>): string => (key === '' ? name : `${name}:${key}`);

export interface Change {
  readonly kind: 'fired' | 'resolved';
  readonly alert: Alert;
}

export interface StepInput {
  readonly now: number;
  readonly rules: readonly SetRule[];
  /** By the name of the rule. Rules that are left out are unknown. */
  readonly evaluated: ReadonlyMap<string, Evaluated>;
  /** Alerts that were pending at the start of this process do not fire before: what was true then may just be starting. */
  readonly notBefore?: number;
}

const QUIET_MS = 300_000;
const FLAP_SPAN_MS = 3_600_000;
const FLAP_CHANGES = 4;
/** How long an alert is remembered after its end: a target that was offline meanwhile is told of it. */
const REMEMBERED_MS = 7 * 86_400_000;

/** Advances every alert. Alerts of rules that are gone are dropped. */
export function step(
  alerts: Alerts,
  input: StepInput,
): { readonly alerts: Alerts; readonly changes: readonly Change[] } {
  const next = new Map<string, Alert>();
  const changes: Change[] = [];
  for (const rule of input.rules) {
    const evaluated = input.evaluated.get(rule.name);
    for (const before of bornOrKnown(alerts, rule, evaluated)) {
      const after = advance(before, seenOf(before, evaluated), { rule, input });
      if (after === undefined) continue;
      next.set(idOf(after), after);
      if (after.phase === before.phase) continue;
      if (after.phase === 'firing') changes.push({ kind: 'fired', alert: after });
      else if (before.phase === 'firing') changes.push({ kind: 'resolved', alert: after });
    }
  }
  return { alerts: next, changes };
}

/** The alerts of a rule that are known, and those that its evaluation begins. */
function bornOrKnown(alerts: Alerts, { name, severity }: SetRule, evaluated: Evaluated | undefined): readonly Alert[] {
  const known = [...alerts.values()].filter((alert) => alert.name === name).map((alert) => ({ ...alert, severity }));
  const keys = new Set(known.map(({ key }) => key));
  const born = [...(evaluated?.found ?? [])]
    .filter(([key, { verdict }]) => verdict === 'true' && !keys.has(key))
    .map(([key, { labels }]) => unborn({ name, key, labels, severity }));
  return [...known, ...born];
}

const unborn = (of: Pick<Alert, 'name' | 'key' | 'labels' | 'severity'>): Alert => ({
  ...of,
  phase: 'resolved',
  since: 0,
  firedAt: null,
  quietSince: null,
  value: 0,
  told: null,
  toldAt: null,
  changes: [],
  isFlapping: false,
});

interface Seen {
  readonly verdict: 'true' | 'false' | 'unknown' | 'held';
  readonly value: number;
}

function seenOf({ key, value }: Alert, evaluated: Evaluated | undefined): Seen {
  const found = evaluated?.found.get(key);
  if (found !== undefined) return found;
  return { verdict: evaluated === undefined || evaluated.isUnknown ? 'unknown' : 'false', value };
}

/** Undefined: nothing is left to remember. */
function advance(
  before: Alert,
  seen: Seen,
  { rule: { forMs }, input: { now, notBefore = 0 } }: { readonly rule: SetRule; readonly input: StepInput },
): Alert | undefined {
  const alert = pendingOr(calmed(notLater(before, now), now), seen, now);
  const { verdict, value } = seen;
  if (alert.phase === 'resolved') return isForgotten(alert, now) ? undefined : alert;
  if (alert.phase === 'pending') {
    if (verdict === 'false' || verdict === 'held')
      return isForgotten(alert, now) ? undefined : { ...alert, phase: 'resolved' };
    if (verdict === 'unknown' || now - alert.since < forMs || (before.phase === 'pending' && now < notBefore))
      return { ...alert, value };
    return changed({ ...alert, phase: 'firing', firedAt: now, quietSince: null, value }, now);
  }
  if (verdict === 'true') return { ...alert, quietSince: null, value };
  if (verdict !== 'false') return { ...alert, quietSince: null };
  const quietSince = alert.quietSince ?? now;
  return now - quietSince < QUIET_MS
    ? { ...alert, quietSince }
    : changed({ ...alert, phase: 'resolved', quietSince }, now);
}

const isForgotten = ({ changes, told, toldAt }: Alert, now: number): boolean =>
  changes.length === 0 && told === null && (toldAt === null || now - toldAt >= REMEMBERED_MS);

const pendingOr = (alert: Alert, { verdict, value }: Seen, now: number): Alert =>
  alert.phase === 'resolved' && verdict === 'true' ? { ...alert, phase: 'pending', since: now, value } : alert;

const changed = (alert: Alert, now: number): Alert => {
  const changes = [...alert.changes, now];
  return { ...alert, changes, isFlapping: alert.isFlapping || changes.length >= FLAP_CHANGES };
};

/** Times that are not over once the wall clock was set back would hold the alert until then. */
const notLater = (alert: Alert, now: number): Alert => {
  const { since, quietSince, toldAt, changes } = alert;
  if (Math.max(since, quietSince ?? 0, toldAt ?? 0, ...changes) <= now) return alert;
  const until = (at: number): number => Math.min(at, now);
  return {
    ...alert,
    since: until(since),
    quietSince: quietSince === null ? null : until(quietSince),
    toldAt: toldAt === null ? null : until(toldAt),
    changes: changes.map(until),
  };
};

/** Forgets changes of more than an hour ago. */
function calmed(alert: Alert, now: number): Alert {
  const changes = alert.changes.filter((at) => now - at < FLAP_SPAN_MS);
  if (changes.length === alert.changes.length) return alert;
  return { ...alert, changes, isFlapping: alert.isFlapping && changes.length > 0 };
}
