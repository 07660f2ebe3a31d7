// What the verdict of a release looks at, read from stored rows: items and sends that ended, starts of workers, changes of readiness and of accounts.
// The window is compared with an equal span that ended when the release began.
import { sql } from '../../database/statement.ts';
import type { Reader } from '../../database/unit.ts';
import { readIngress } from '../../ingress/stored-pause.ts';
import { countEnds, eventsBefore, eventsIn, type Span } from './paged-rows.ts';
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
  // One after the other: side by side their pages would share a turn of the loop.
  const before = await countsOf(reader, { from: begunAt - length, until: begunAt });
  const since = await countsOf(reader, { from: observedAt, until: now });
  const { state, since: ingressSince } = await readIngress(reader);
  // What a pause holds waits for whoever has paused, not for the new version; after it the wait counts from its end.
  const oldest = state === 'paused' ? undefined : await oldestWaiting(reader);
  const openedAt = ingressSince === null ? observedAt : Math.max(observedAt, Date.parse(ingressSince));
  const lost = await lostAccounts(reader, required, { begunAt, now });
  return {
    before,
    since,
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, now - Math.max(oldest, openedAt)),
    lostAccounts: lost,
  };
}

async function countsOf(reader: Reader, span: Span): Promise<Counts> {
  const items = await countEnds(reader, 'inbox', span);
  const sends = await countEnds(reader, 'outbox', span);
  const crashes = await crashesIn(reader, span);
  const longestNotReadyMs = await longestNotReady(reader, span);
  const deadOrUnknown = (items.get('dead') ?? 0) + (sends.get('dead') ?? 0) + (sends.get('unknown') ?? 0);
  const handled = items.get('done') ?? 0;
  return { crashes, longestNotReadyMs, handled, deadOrUnknown, agentRuns: 0, agentFailures: 0 };
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

const READINESS = ['ready.changed', 'runtime.started', 'runtime.stopping'];

/** A worker that starts is not ready until it says so. */
async function longestNotReady(reader: Reader, span: Span): Promise<number> {
  let since: number | undefined;
  let longest = 0;
  for await (const { at, type, data } of eventsIn(reader, READINESS, span)) {
    const isReady = type === 'ready.changed' && (JSON.parse(data) as { readonly ready: boolean }).ready;
    if (isReady && since !== undefined) longest = Math.max(longest, at - since);
    since = isReady ? undefined : (since ?? at);
  }
  return since === undefined ? longest : Math.max(longest, span.until - since);
}

async function oldestWaiting(reader: Reader): Promise<number | undefined> {
  const row = await reader.first(
    sql.selectFrom('inbox').select('received_at').where('done_at', 'is', null).orderBy('seq').limit(1),
  );
  return row?.received_at;
}

/** Accounts that were online before the release and are not now, with the time since when. */
async function lostAccounts(
  reader: Reader,
  names: readonly string[],
  { begunAt, now }: Pick<WindowSpan, 'begunAt' | 'now'>,
): Promise<WindowFacts['lostAccounts']> {
  const latest = await lastStates(reader, names, now);
  const offline = names.filter((name) => (latest.get(name)?.to ?? ONLINE) !== ONLINE);
  const before = await lastStates(reader, offline, begunAt);
  return offline
    .filter((name) => before.get(name)?.to === ONLINE)
    .map((name) => ({ name, forMs: now - (latest.get(name)?.at ?? now) }));
}

async function lastStates(reader: Reader, names: readonly string[], until: number) {
  const wanted = new Set(names);
  const states = new Map<string, { readonly at: number; readonly to: string }>();
  if (wanted.size === 0) return states;
  for await (const { endpoint, at, data } of eventsBefore(reader, ['endpoint.state_changed'], until)) {
    if (endpoint === null || !wanted.delete(endpoint)) continue;
    states.set(endpoint, { at, to: (JSON.parse(data) as { readonly to: string }).to });
    if (wanted.size === 0) break;
  }
  return states;
}
