// What the verdict of a release looks at, read from stored rows: items and sends that ended, starts of workers, changes of readiness and of accounts.
// The window is compared with an equal span that ended when the release began.
import { sql } from '../../database/statement.ts';
import type { Reader } from '../../database/unit.ts';
import type { Counts, WindowFacts } from './verdict.ts';

export interface WindowSpan {
  /** When the release began: the span before ends here. */
  readonly begunAt: number;
  /** When ingress was opened again. */
  readonly observedAt: number;
  readonly now: number;
}

const ONLINE = 'online';

/** Accounts of `http.readiness.endpoints`, as events name them. */
export const requiredNames = (endpoints: readonly { readonly owner: string; readonly name: string }[]): string[] =>
  endpoints.map(({ owner, name }) => `${owner}:${name}`);

export async function readWindow(
  reader: Reader,
  { begunAt, observedAt, now }: WindowSpan,
  required: readonly string[],
): Promise<WindowFacts> {
  const length = now - observedAt;
  const [before, since, oldest, lost] = await Promise.all([
    countsOf(reader, { from: begunAt - length, until: begunAt }),
    countsOf(reader, { from: observedAt, until: now }),
    oldestWaiting(reader),
    Promise.all(required.map((name) => offlineFor(reader, name, { begunAt, now }))),
  ]);
  return {
    before,
    since,
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, now - Math.max(oldest, observedAt)),
    lostAccounts: required.flatMap((name, index) => {
      const forMs = lost[index];
      return forMs === undefined ? [] : [{ name, forMs }];
    }),
  };
}

interface Span {
  readonly from: number;
  readonly until: number;
}

async function countsOf(reader: Reader, span: Span): Promise<Counts> {
  const [items, sends, crashes, longestNotReadyMs] = await Promise.all([
    endsOf(reader, 'inbox', span),
    endsOf(reader, 'outbox', span),
    crashesIn(reader, span),
    longestNotReady(reader, span),
  ]);
  const deadOrUnknown = (items.get('dead') ?? 0) + (sends.get('dead') ?? 0) + (sends.get('unknown') ?? 0);
  const handled = items.get('done') ?? 0;
  return { crashes, longestNotReadyMs, handled, deadOrUnknown, agentRuns: 0, agentFailures: 0 };
}

/** Rows by state that ended within the span. */
async function endsOf(reader: Reader, table: 'inbox' | 'outbox', { from, until }: Span) {
  const rows = await reader.all(
    sql
      .selectFrom(table)
      .select(({ fn }) => ['state', fn.countAll<number>().as('n')])
      .where('done_at', 'is not', null)
      .where('done_at', '>=', from)
      .where('done_at', '<', until)
      .groupBy('state'),
  );
  return new Map(rows.map(({ state, n }) => [state as string, Number(n)]));
}

async function crashesIn(reader: Reader, { from, until }: Span): Promise<number> {
  const row = await reader.first(
    sql
      .selectFrom('starts')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('previous_end', '=', 'crashed')
      .where('at', '>=', from)
      .where('at', '<', until),
  );
  return Number(row?.n ?? 0);
}

/** A worker that starts is not ready until it says so. */
async function longestNotReady(reader: Reader, { from, until }: Span): Promise<number> {
  const rows = await reader.all(
    sql
      .selectFrom('event_log')
      .select(['at', 'type', 'data'])
      .where('type', 'in', ['ready.changed', 'runtime.started', 'runtime.stopping'])
      .where('at', '>=', from)
      .where('at', '<', until)
      .orderBy('seq'),
  );
  let since: number | undefined;
  let longest = 0;
  for (const { at, type, data } of rows) {
    const isReady = type === 'ready.changed' && (JSON.parse(data) as { readonly ready: boolean }).ready;
    if (isReady && since !== undefined) longest = Math.max(longest, at - since);
    since = isReady ? undefined : (since ?? at);
  }
  return since === undefined ? longest : Math.max(longest, until - since);
}

async function oldestWaiting(reader: Reader): Promise<number | undefined> {
  const row = await reader.first(
    sql.selectFrom('inbox').select('received_at').where('done_at', 'is', null).orderBy('seq').limit(1),
  );
  return row?.received_at;
}

/** How long an account that was online before the release is not; undefined for one that is, or was not before. */
async function offlineFor(
  reader: Reader,
  endpoint: string,
  { begunAt, now }: Pick<WindowSpan, 'begunAt' | 'now'>,
): Promise<number | undefined> {
  const last = (until: number) =>
    reader.first(
      sql
        .selectFrom('event_log')
        .select(['at', 'data'])
        .where('type', '=', 'endpoint.state_changed')
        .where('endpoint', '=', endpoint)
        .where('at', '<', until)
        .orderBy('seq', 'desc')
        .limit(1),
    );
  const [before, latest] = await Promise.all([last(begunAt), last(now)]);
  const stateOf = (row: { readonly data: string } | undefined) =>
    row === undefined ? undefined : (JSON.parse(row.data) as { readonly to: string }).to;
  if (stateOf(before) !== ONLINE || latest === undefined || stateOf(latest) === ONLINE) return undefined;
  return now - latest.at;
}
