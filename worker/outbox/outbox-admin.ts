// What an operator does with the outbox: look, send a dead or unknown one again (or take it as sent), drop one.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import { sql } from '../database/statement.ts';
import type { OutboxState } from '../database/tables.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ItemStore, Page, PageRequest } from '../http/host-port.ts';
import { cursorOf } from '../inbox/inbox-admin.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { dropSend, type OutboxRow, readSend, replaySend, type SendHead } from './outbox-store.ts';

export interface OutboxAdminDeps {
  readonly core: Core;
  readonly sender: LaneRunner<SendHead>;
}

export function createOutboxAdmin({ core, sender }: OutboxAdminDeps): ItemStore {
  const find = async (id: string): Promise<OutboxRow> => {
    const row = await readSend(core.reader, id);
    if (row === undefined)
      throw new SvcError('not_found', `no outbox item ${id.slice(0, 64)}`, { hint: 'svc outbox list' });
    return row;
  };
  const head = (row: OutboxRow, actor: string) => ({
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    endpoint: row.endpoint,
    actor,
    correlationId: row.correlation_id ?? undefined,
  });
  return {
    page: (request) => readPage(core, request),
    async show(id, texts) {
      const row = await find(id);
      return {
        item: {
          ...summary(row, texts),
          ...(texts ? { call: row.body === null ? null : (JSON.parse(row.body) as unknown) } : {}),
        },
        revision: revisionOf(row),
      };
    },
    async replay(id, { caller, revision, answer = 'again' }) {
      const row = await find(id);
      refuseStale(row, revision);
      const event = { ...head(row, caller.actor), type: 'outbox.replayed', data: { item: row.id, answer } } as const;
      const result = await core.writer.commit({
        name: 'outbox.replay',
        statements: [replaySend(row.id, answer, core.clock.now()), ...recordEvents([event])],
      });
      if (result.kind === 'refused')
        throw new SvcError(
          'conflict',
          `outbox item ${row.id} is ${row.state}, only a dead or unknown one with its text is sent again`,
        );
      sender.reread();
      return summary(await find(row.id), true);
    },
    async drop(id, { caller, revision, reason }) {
      const row = await find(id);
      refuseStale(row, revision);
      const event = { ...head(row, caller.actor), type: 'outbox.dropped', data: { item: row.id, reason } } as const;
      const result = await core.writer.commit({
        name: 'outbox.drop',
        statements: [dropSend(row.id, core.clock.now(), reason), ...recordEvents([event])],
      });
      if (result.kind === 'refused') throw new SvcError('conflict', `outbox item ${row.id} is ${row.state} already`);
      sender.dropped(JSON.stringify([row.endpoint, row.conversation]), row.id);
      return summary(await find(row.id), true);
    },
  };
}

async function readPage(core: Core, { after, limit, state, endpoint, texts }: PageRequest): Promise<Page> {
  let query = sql.selectFrom('outbox').selectAll();
  let count = sql.selectFrom('outbox').select(({ fn }) => fn.countAll<number>().as('n'));
  if (state !== undefined)
    [query, count] = [query.where('state', '=', state as OutboxState), count.where('state', '=', state as OutboxState)];
  if (endpoint !== undefined)
    [query, count] = [query.where('endpoint', '=', endpoint), count.where('endpoint', '=', endpoint)];
  if (after !== undefined) query = query.where('seq', '<', cursorOf(after));
  const rows = await core.reader.all(query.orderBy('seq', 'desc').limit(limit + 1));
  const total = Number((await core.reader.first(count))?.n ?? 0);
  const last = rows[limit - 1];
  return {
    items: rows.slice(0, limit).map((row) => summary(row, texts)),
    total,
    ...(rows.length > limit && last !== undefined ? { next: String(last.seq) } : {}),
  };
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
const revisionOf = (row: OutboxRow): string => `${row.state}-${row.attempts}`;

function refuseStale(row: OutboxRow, revision: string | undefined): void {
  if (revision !== undefined && revision !== revisionOf(row))
    throw new SvcError('precondition_failed', `outbox item ${row.id} has changed: it is ${row.state}`);
}

function summary(row: OutboxRow, texts: boolean): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    seq: row.seq,
    endpoint: row.endpoint,
    kind: row.kind,
    state: row.state,
    attempts: row.attempts,
    createdAt: iso(row.created_at),
    nextAt: iso(row.next_at),
    doneAt: iso(row.done_at),
    bytes: row.bytes,
    sha256: row.sha256,
    from: row.item_id,
    ...(texts
      ? {
          key: row.key,
          conversation: row.conversation,
          lastError: row.last_error,
          platformMessage: row.platform_message,
        }
      : {}),
  };
}
