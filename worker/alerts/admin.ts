// Alerts for an operator: what fires, silences, a test message. Changes are events with the operator as actor.

import { type Alert, idOf } from '../../shared/alerts/alert-machine.ts';
import { runbookOf } from '../../shared/alerts/rule.ts';
import { RULES } from '../../shared/alerts/rules.ts';
import type { HostRule } from '../../shared/alerts/set-rules.ts';
import { mutedBy } from '../../shared/alerts/tell.ts';
import type {
  AlertTestAsk,
  AlertTested,
  ShownAlert,
  ShownAlerts,
  ShownSilence,
  SilenceAsk,
} from '../../shared/api/monitoring/alert.ts';
import type { ShownFigures } from '../../shared/api/monitoring/figures.ts';
import { nearest } from '../../shared/config/nearest.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { readDateTime } from '../../shared/time/date-time.ts';
import { type Core, maskedText } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { AlertsApi } from '../http/api/alerts-api.ts';
import type { Caller } from '../http/api/caller.ts';
import { putSilence, removeSilence, type Silence } from './alert-store.ts';
import { type Alerts, LOOK_MS } from './alerts.ts';
import { textOf } from './message.ts';

const LONGEST_SILENCE_MS = 366 * 86_400_000;

export function createAlertsAdmin(core: Core, alerts: Alerts): AlertsApi {
  return {
    list: async (texts) => {
      await alerts.load();
      return shownAlerts(alerts, texts);
    },
    silence: (caller, ask, keep) =>
      alerts.inTurn(async () => {
        const silence = silenceOf(core, caller, { ...ask, key: alerts.fullKey(ask) });
        if (silence.key !== '' && !alerts.isKnownKey(silence))
          throw new SvcError('not_found', `there is no account ${silence.key}`, { hint: '`svc endpoints list`' });
        const shown = shownSilence(silence, true);
        const told = eventOf(core, caller, { ...silence, until: silence.until });
        await alerts.change('alerts.silenced', [putSilence(silence), ...keep(shown), ...recordEvents([told])]);
        return shown;
      }),
    unsilence: (caller, ask, keep) =>
      alerts.inTurn(async () => {
        const { name } = ask;
        const key = alerts.fullKey(ask);
        if (!alerts.silences.some((one) => one.name === name && one.key === key)) throw notSilenced(name, key);
        const told = eventOf(core, caller, { name, key, until: null, reason: null });
        await alerts.change('alerts.unsilenced', [
          removeSilence(name, key),
          ...keep(undefined),
          ...recordEvents([told]),
        ]);
      }),
    figures: async (names) => shownFigures(alerts.recent, names),
    test: (caller, { endpoint }: AlertTestAsk, keep): Promise<AlertTested> => alerts.test(caller.actor, endpoint, keep),
  };
}

function shownAlerts(alerts: Alerts, texts: boolean): ShownAlerts {
  const rules = alerts.rules();
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  const shown = [...alerts.alerts.values()].flatMap((alert): ShownAlert[] => {
    const rule = byName.get(alert.name);
    return rule === undefined || alert.phase === 'resolved' ? [] : [shownAlert(alerts, alert, { rule, rules })];
  });
  return {
    at: timeOf(alerts.lookedAt),
    firing: shown.filter((one) => one.state !== 'pending' && !one.silenced && one.mutedBy === null).length,
    alerts: shown.toSorted((a, b) => rankOf(a) - rankOf(b)),
    unknown: [...alerts.unknown],
    silences: alerts.activeSilences().map((one) => shownSilence(one, texts)),
    targets: alerts.targets.length,
  };
}

function shownFigures(recent: Alerts['recent'], names: readonly string[] | undefined): ShownFigures {
  const shown = (name: string): boolean => names === undefined || names.includes(name);
  return {
    stepSeconds: LOOK_MS / 1_000,
    times: recent.times.map((at) => new Date(at).toISOString()),
    series: recent.names.filter(shown).flatMap((name) =>
      recent.of(name).map(({ labels, values }) => ({
        name,
        labels: { ...labels },
        values: Array.from(values, (value) => (Number.isFinite(value) ? value : null)),
      })),
    ),
    unread: [...(recent.unread ?? [])].filter(shown),
  };
}

const rankOf = ({ state, severity }: ShownAlert): number =>
  (state === 'pending' ? 2 : 0) + (severity === 'critical' ? 0 : 1);

function shownAlert(
  alerts: Alerts,
  alert: Alert,
  { rule, rules }: { readonly rule: HostRule; readonly rules: readonly HostRule[] },
): ShownAlert {
  const { name, key, severity, phase, labels, value, since, firedAt, toldAt, quietSince, isFlapping } = alert;
  return {
    name,
    key,
    severity,
    state: phase === 'pending' ? 'pending' : quietSince === null ? 'firing' : 'quiet',
    since: new Date(since).toISOString(),
    firedAt: timeOf(firedAt),
    labels: { ...labels },
    value,
    summary: textOf(rule.summary, alert),
    description: rule.description,
    remedy: textOf(rule.remedy, alert),
    runbook: runbookOf(rule),
    toldAt: timeOf(toldAt),
    flapping: isFlapping,
    silenced: alerts.isSilenced(alert),
    mutedBy: mutedBy(alert, alerts.alerts, rules) ?? null,
  };
}

const shownSilence = ({ name, key, until, reason, actor }: Silence, texts: boolean): ShownSilence => ({
  name,
  key,
  until: new Date(until).toISOString(),
  ...(texts ? { reason, by: actor } : {}),
});

function silenceOf(core: Core, { actor }: Caller, { name, key = '', until, reason }: SilenceAsk): Silence {
  refuseWithoutEffect(name, key);
  const now = core.clock.now();
  const end = readDateTime(until);
  if (end === undefined || end <= now || end > now + LONGEST_SILENCE_MS)
    throw new SvcError('invalid_request', '`until` must be a time in the future, at most a year away');
  return { name, key, until: end, reason: maskedText(core, reason), actor, at: now };
}

/** Such a silence would be taken for one, and the alert be told. */
function refuseWithoutEffect(name: string, key: string): void {
  const names = RULES.map((one) => one.name);
  const rule = RULES.find((one) => one.name === name);
  if (rule === undefined) {
    const near = nearest(name, names);
    throw new SvcError('not_found', `${name} is no rule`, {
      hint: near === undefined ? '`svc alerts rules` lists them' : `did you mean ${near}?`,
    });
  }
  if (rule.shape.kind === 'prometheus')
    throw new SvcError('refused', `${name} is for Prometheus alone: this host never tells it`, {
      hint: `amtool silence add alertname=${name}`,
    });
  if (key !== '' && rule.labels.length === 0)
    throw new SvcError('refused', `${name} is one alert, without a key`, { hint: `\`svc alerts silence ${name}\`` });
}

const eventOf = (
  core: Core,
  { actor }: Caller,
  {
    name,
    key,
    until,
    reason,
  }: Pick<Silence, 'name' | 'key'> & { readonly until: number | null; readonly reason: string | null },
) =>
  ({
    type: 'alert.silenced',
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    actor,
    subject: idOf({ name, key }),
    data: { alert: name, key, until, reason },
  }) as const;

const notSilenced = (name: string, key: string): SvcError =>
  new SvcError('not_found', `${idOf({ name, key })} is not silenced`, { hint: '`svc alerts` lists the silences' });

const timeOf = (at: number | null | undefined): string | null => (at == null ? null : new Date(at).toISOString());
