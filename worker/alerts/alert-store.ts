// Statements and reads of alerts and silences. The writing ones join the unit of what they record.
import { type Alert, type Alerts, idOf } from '../../shared/alerts/alert-machine.ts';
import { sql, statement } from '../database/statement.ts';
import type { AlertsTable, Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';

export type Silence = Tables['alert_silences'];

export async function readAlerts(reader: Reader): Promise<Alerts> {
  const rows = await reader.all(sql.selectFrom('alerts').selectAll().orderBy('name').orderBy('key'));
  return new Map(rows.map((row) => [idOf(row), alertOf(row)]));
}

export const readSilences = (reader: Reader): Promise<Silence[]> =>
  reader.all(sql.selectFrom('alert_silences').selectAll().orderBy('name').orderBy('key'));

/** What turns `stored` into `next`. The value alone is no change worth a write. */
export function changedRows(stored: Alerts, next: Alerts): readonly Statement[] {
  const changed = [...next].flatMap(([id, alert]) => {
    const before = stored.get(id);
    return before !== undefined && isSameRow(before, alert) ? [] : [putAlert(alert)];
  });
  const gone = [...stored].flatMap(([id, { name, key }]) => (next.has(id) ? [] : [removeAlert(name, key)]));
  return [...changed, ...gone];
}

function putAlert(alert: Alert): Statement {
  const { name: _name, key: _key, ...values } = rowOf(alert);
  return statement(
    sql
      .insertInto('alerts')
      .values(rowOf(alert))
      .onConflict((conflict) => conflict.columns(['name', 'key']).doUpdateSet(values)),
  );
}

const removeAlert = (name: string, key: string): Statement =>
  statement(sql.deleteFrom('alerts').where('name', '=', name).where('key', '=', key));

export const putSilence = ({ name, key, ...values }: Silence): Statement =>
  statement(
    sql
      .insertInto('alert_silences')
      .values({ name, key, ...values })
      .onConflict((conflict) => conflict.columns(['name', 'key']).doUpdateSet(values)),
  );

export const removeSilence = (name: string, key: string): Statement =>
  statement(sql.deleteFrom('alert_silences').where('name', '=', name).where('key', '=', key));

export const removeEndedSilences = (now: number): Statement =>
  statement(sql.deleteFrom('alert_silences').where('until', '<=', now));

const isSameRow = (before: Alert, after: Alert): boolean =>
  JSON.stringify({ ...rowOf(before), value: 0 }) === JSON.stringify({ ...rowOf(after), value: 0 });

const rowOf = (alert: Alert): AlertsTable => ({
  name: alert.name,
  key: alert.key,
  labels: JSON.stringify(alert.labels),
  severity: alert.severity,
  phase: alert.phase,
  since: alert.since,
  fired_at: alert.firedAt,
  quiet_since: alert.quietSince,
  value: alert.value,
  told: alert.told,
  notified: alert.toldAt,
  changes: JSON.stringify(alert.changes),
  is_flapping: Number(alert.isFlapping),
});

const alertOf = (row: AlertsTable): Alert => ({
  name: row.name,
  key: row.key,
  labels: JSON.parse(row.labels) as Alert['labels'],
  severity: row.severity,
  phase: row.phase,
  since: row.since,
  firedAt: row.fired_at,
  quietSince: row.quiet_since,
  value: row.value,
  told: row.told,
  toldAt: row.notified,
  changes: JSON.parse(row.changes) as number[],
  isFlapping: row.is_flapping === 1,
});
