// Messages of alerts that did not go out yet, because their account is offline or its platform takes nothing.
//
//   UNSENT-1  A newer message to the same conversation replaces them, in the unit that stores it. A target that comes back is told once, of what
//             holds by then.
//   UNSENT-2  The key of a message begins with the time since when its conversation was told nothing, so that survives a restart. That time is
//             the one that its alerts have as theirs.
//   UNSENT-3  The correlation id of a message says who carried what as it was stored. Once that has changed, or the clock was set back, nobody
//             knows what the message told: it goes out as it is.
//   UNSENT-4  A message that was tried may have been shown: it goes out as it is.
import { createHash } from 'node:crypto';
import type { Alert, Alerts } from '../../shared/alerts/alert-machine.ts';
import type { HostRule } from '../../shared/alerts/set-rules.ts';
import type { Telling } from '../../shared/alerts/tell.ts';
import { ALERTS_ACTOR } from '../core/actors.ts';
import type { Core } from '../core/core.ts';
import { isOpen } from '../database/open-rows.ts';
import { sql, statement } from '../database/statement.ts';
import type { OutboxTable } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { replaceSends } from '../outbox/send-units.ts';
import type { Target } from './carriers.ts';

type Place = Pick<Target, 'endpoint' | 'conversation'>;

export interface Unsent extends Place {
  readonly rows: readonly Pick<OutboxTable, 'id' | 'endpoint' | 'state'>[];
  /** Since when nothing went out. */
  readonly since: number;
}

export interface Look {
  readonly now: number;
  /** Name of which target carries which alert. It changes with either. */
  readonly routing: string;
}

const WAITING = ['pending', 'waiting'] as const;
const REASON = 'a newer message tells what holds now';

/** Name of which target carries which alert: a hash of both. Another name as soon as either changes. */
export const routingOf = (
  targets: readonly Target[],
  rules: readonly Pick<HostRule, 'name' | 'severity'>[],
): string => {
  const carried = [
    targets.map((one) => [one.endpoint, one.conversation, one.severities, one.isDisabled === true]),
    rules.map(({ name, severity }) => [name, severity]),
  ];
  return `alerts-${createHash('sha256').update(JSON.stringify(carried)).digest('hex').slice(0, 16)}`;
};

/** By conversation, of those that these targets name. */
export async function readUnsent(
  reader: Reader,
  targets: readonly Place[],
  { now, routing }: Look,
): Promise<readonly Unsent[]> {
  const open = await reader.all(
    sql
      .selectFrom('outbox')
      .select(['id', 'key', 'endpoint', 'conversation', 'state'])
      .where(isOpen)
      .where('actor', '=', ALERTS_ACTOR)
      .where('correlation_id', '=', routing)
      .where('state', 'in', WAITING)
      .where('attempts', '=', 0)
      .where('failures', '=', 0)
      .orderBy('seq'),
  );
  const places = targets.filter((target, at) => targets.findIndex((one) => isSamePlace(one, target)) === at);
  return places.flatMap(({ endpoint, conversation }) => {
    const rows = open.filter((row) => isSamePlace(row, { endpoint, conversation }));
    const since = Math.min(...rows.map(({ key }) => timeOf(key)));
    return rows.length === 0 || since > now ? [] : [{ endpoint, conversation, rows, since }];
  });
}

/** The clock was set back, and the times of alerts with it: those in keys of messages that wait say nothing any more. */
export const keepUnsent = (): Statement =>
  statement(
    sql
      .updateTable('outbox')
      .set({ correlation_id: null })
      .where(isOpen)
      .where('actor', '=', ALERTS_ACTOR)
      .where('correlation_id', 'is not', null),
  );

/** Refused if a call has begun meanwhile. */
export const dropUnsent = ({ rows }: Unsent, { runtimeId, clock }: Pick<Core, 'runtimeId' | 'clock'>) =>
  replaceSends(rows, { reason: REASON, at: clock.now(), runtimeId, actor: ALERTS_ACTOR });

export const isSamePlace = (a: Place, b: Place): boolean =>
  a.endpoint === b.endpoint && a.conversation === b.conversation;

/** Each alert that was told since then, as it is now. */
export function missed(alerts: Alerts, since: number, isSilenced: (alert: Alert) => boolean): readonly Telling[] {
  return [...alerts.values()].flatMap((alert): Telling[] => {
    const kind = alert.toldAt === null || alert.toldAt < since ? undefined : kindOf(alert, since);
    return kind === undefined || (kind !== 'resolved' && isSilenced(alert)) ? [] : [{ kind, alert }];
  });
}

function kindOf({ told, phase, firedAt }: Alert, since: number): Telling['kind'] | undefined {
  if (told === null) return 'resolved';
  if (told === 'flapping') return 'flapping';
  if (phase !== 'firing') return undefined; // its end is told next
  return (firedAt ?? since) >= since ? 'fired' : 'still';
}

/** Of the UUIDv7 that a key begins with. */
const timeOf = (key: string): number => Number.parseInt(key.slice(0, 12), 16);
