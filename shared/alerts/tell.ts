// What is told of alerts, and what becomes of them by that. Pure.
import { type Alert, type Alerts, idOf, type SetRule } from './alert-machine.ts';

export interface Telling {
  /** `still`: it was told before, and fires on. */
  readonly kind: 'fired' | 'resolved' | 'flapping' | 'still';
  readonly alert: Alert;
}

export interface TellInput {
  readonly now: number;
  readonly rules: readonly Pick<SetRule, 'name' | 'mutes'>[];
  readonly isSilenced: (alert: Alert) => boolean;
  readonly repeatMs: number;
}

/** At most one message a minute: changes of the same minute go out together. */
const GROUP_MS = 60_000;

/**
 * `alerts`: as they are once the tellings are stored. The end of an alert that was told is told also while it is muted, and not while it is
 * silenced.
 */
export function tell(
  alerts: Alerts,
  input: TellInput,
): { readonly alerts: Alerts; readonly tellings: readonly Telling[] } {
  const { now } = input;
  const lastAt = Math.max(...[...alerts.values()].map(({ toldAt }) => toldAt ?? Number.NEGATIVE_INFINITY));
  const mayTell = now - lastAt >= GROUP_MS || lastAt > now;
  const next = new Map<string, Alert>();
  const tellings: Telling[] = [];
  for (const [id, alert] of alerts) {
    const kind = kindOf(alert, input);
    const isSilenced = input.isSilenced(alert);
    const isQuiet = isSilenced || (kind !== 'resolved' && mutedBy(alert, alerts, input.rules) !== undefined);
    if (kind !== undefined && mayTell && !isQuiet) {
      tellings.push({ kind, alert });
      next.set(id, { ...alert, told: toldBy(kind), toldAt: now });
    } else if (isSilenced && alert.phase === 'resolved') next.set(id, { ...alert, told: null });
    else next.set(id, isCalm(alert) ? { ...alert, told: 'firing' } : alert);
  }
  return { alerts: next, tellings };
}

/** The id of the critical alert that says the same of the same labels. */
export function mutedBy(
  { name, key }: Pick<Alert, 'name' | 'key'>,
  alerts: Alerts,
  rules: TellInput['rules'],
): string | undefined {
  return rules
    .filter(({ mutes }) => mutes === name || mutes === '*')
    .map((rule) => idOf({ name: rule.name, key }))
    .find((id) => alerts.get(id)?.phase === 'firing');
}

/** It fires, was told as flapping, and has not changed for an hour. */
const isCalm = ({ phase, isFlapping, told }: Alert): boolean =>
  phase === 'firing' && !isFlapping && told === 'flapping';

function kindOf(alert: Alert, { now, repeatMs }: TellInput): Telling['kind'] | undefined {
  const { phase, told, toldAt, isFlapping } = alert;
  if (isFlapping) return told === 'flapping' ? undefined : 'flapping';
  if (phase === 'firing' && told === null) return 'fired';
  if (phase === 'firing' && now - (toldAt ?? now) >= repeatMs) return 'still';
  return phase === 'resolved' && told !== null ? 'resolved' : undefined;
}

const toldBy = (kind: Telling['kind']): Alert['told'] => {
  if (kind === 'resolved') return null;
  return kind === 'flapping' ? 'flapping' : 'firing';
};
