// Which target of `alerts.notify` carries which telling. Pure.
import type { Severity } from '../../shared/alerts/rule.ts';
import type { Telling } from '../../shared/alerts/tell.ts';

export interface Target {
  /** Full name of the account. */
  readonly endpoint: string;
  readonly conversation: string;
  readonly severities: readonly Severity[];
  /** An operator has disabled the account: its sends wait. */
  readonly isDisabled?: boolean;
}

export interface Carried {
  readonly target: Target;
  readonly tellings: readonly Telling[];
}

/** Tellings by target. A telling that no target can carry is in none. */
export function carriersOf(tellings: readonly Telling[], targets: readonly Target[]): readonly Carried[] {
  const chosen = new Map(tellings.map((telling) => [telling, chosenFor(telling, targets)]));
  return targets
    .map((target) => ({ target, tellings: tellings.filter((telling) => chosen.get(telling)?.includes(target)) }))
    .filter(({ tellings: carried }) => carried.length > 0);
}

/** An account does not carry the alert about itself, and a disabled one only what no other can carry. */
function chosenFor({ alert }: Telling, targets: readonly Target[]): readonly Target[] {
  const isAbout = ({ endpoint }: Target): boolean => endpoint === alert.labels['endpoint'];
  const enabled = without((one) => isAbout(one) || one.isDisabled === true, alert, targets);
  return enabled.length > 0 ? enabled : without(isAbout, alert, targets);
}

/** If nobody is left of the severity, the next target has it, whatever its severities are. */
function without(
  isSkipped: (target: Target) => boolean,
  { severity }: Telling['alert'],
  targets: readonly Target[],
): readonly Target[] {
  const meant = targets.filter(({ severities }) => severities.includes(severity));
  const able = meant.filter((one) => !isSkipped(one));
  const [skipped] = meant;
  if (able.length > 0 || skipped === undefined) return able;
  const at = targets.indexOf(skipped);
  const next = [...targets.slice(at), ...targets.slice(0, at)].find((one) => !isSkipped(one));
  return next === undefined ? [] : [next];
}
