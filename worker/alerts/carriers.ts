// Which target of `alerts.notify` carries which telling. Pure.
import type { Severity } from '../../shared/alerts/rule.ts';
import type { Telling } from '../../shared/alerts/tell.ts';

export interface Target {
  /** Full name of the account. */
  readonly endpoint: string;
  readonly conversation: string;
  readonly severities: readonly Severity[];
}

export interface Carried {
  readonly target: Target;
  readonly tellings: readonly Telling[];
}

/** Tellings by target. A telling that no target can carry is in none. */
export function carriersOf(tellings: readonly Telling[], targets: readonly Target[]): readonly Carried[] {
  return targets
    .map((target) => ({ target, tellings: tellings.filter((telling) => carries(target, telling, targets)) }))
    .filter(({ tellings: carried }) => carried.length > 0);
}

/** An account does not carry the alert about itself. If that leaves no target, the next one does, whatever its severities are. */
function carries(target: Target, { alert }: Telling, targets: readonly Target[]): boolean {
  const isAbout = ({ endpoint }: Target): boolean => endpoint === alert.labels['endpoint'];
  const meant = targets.filter(({ severities }) => severities.includes(alert.severity));
  const able = meant.filter((one) => !isAbout(one));
  if (able.length > 0) return able.includes(target);
  const [skipped] = meant;
  if (skipped === undefined) return false;
  const at = targets.indexOf(skipped);
  const next = [...targets.slice(at), ...targets.slice(0, at)].find((one) => !isAbout(one));
  return next === target;
}
