// What still runs during a pause of ingress, and what its end would begin. Both are read from the stored rows.
import type { IngressState, IngressStatus } from '../../shared/api/runtime.ts';
import { isOpen } from '../database/open-rows.ts';
import { sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';

/** Sends that have not ended, by account. `waiting`: their next attempt has a time. */
interface OpenSends {
  readonly endpoint: string;
  readonly open: number;
  readonly waiting: number;
}

async function readOpenSends(reader: Reader): Promise<readonly OpenSends[]> {
  const rows = await reader.all(
    sql
      .selectFrom('outbox')
      .select(({ fn }) => ['endpoint', 'state', fn.countAll<number>().as('n')])
      .where(isOpen)
      .groupBy(['endpoint', 'state'])
      .orderBy('endpoint'),
  );
  const accounts = new Map<string, { open: number; waiting: number }>();
  for (const { endpoint, state, n } of rows) {
    const account = accounts.get(endpoint) ?? { open: 0, waiting: 0 };
    account[state === 'waiting' ? 'waiting' : 'open'] += Number(n);
    accounts.set(endpoint, account);
  }
  return [...accounts].map(([endpoint, counts]) => ({ endpoint, ...counts }));
}

interface Works extends Pick<IngressStatus, 'parked' | 'handlers'> {
  /** An item or a request to a route of a plugin is under way. */
  readonly isRunning: boolean;
}

export async function readWork(
  reader: Reader,
  { isRunning, ...works }: Works,
): Promise<Omit<IngressStatus, keyof IngressState>> {
  const sends = await readOpenSends(reader);
  const open = sends.filter((account) => account.open > 0);
  return {
    quiet: !isRunning && open.length === 0,
    waitingSends: sends.reduce((sum, { waiting }) => sum + waiting, 0),
    sends: open.map(({ endpoint, open: count }) => ({ endpoint, count })),
    ...works,
  };
}

/** Items that have not ended, by account or handler, and by kind. */
export async function readParked(reader: Reader) {
  const rows = await reader.all(
    sql
      .selectFrom('inbox')
      .select(({ fn }) => [
        'endpoint',
        'kind',
        fn.countAll<number>().as('count'),
        fn.min<number | null>('received_at').as('oldest'),
      ])
      .where(isOpen)
      .groupBy(['endpoint', 'kind'])
      .orderBy('endpoint')
      .orderBy('kind'),
  );
  return rows.map(({ endpoint, kind, count, oldest }) => ({
    endpoint,
    kind,
    count: Number(count),
    oldest: timeOf(oldest),
  }));
}

/** Tasks and cron of plugins, and deadlines of the Workroom, whose time has come, by handler. */
export async function readDueTasks(reader: Reader, now: number) {
  const rows = await reader.all(
    sql
      .selectFrom('due')
      .select(({ fn }) => ['capability', 'kind', fn.countAll<number>().as('count'), fn.min('at').as('oldest')])
      .where('kind', 'in', ['task', 'cron', 'workroom'])
      .where('at', '<=', now)
      .groupBy(['capability', 'kind'])
      .orderBy('capability')
      .orderBy('kind'),
  );
  return rows.map(({ capability, kind, count, oldest }) => ({
    handler: capability ?? kind,
    kind: kind === 'workroom' ? ('deadline' as const) : kind === 'cron' ? ('cron' as const) : ('task' as const),
    count: Number(count),
    oldest: timeOf(oldest),
  }));
}

const timeOf = (at: number | string | null): string | null => (at === null ? null : new Date(Number(at)).toISOString());
