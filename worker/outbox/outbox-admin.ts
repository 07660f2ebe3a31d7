// What an operator does with the outbox: look, send a dead or unknown one again (or take it as sent), drop one.
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, maskedText } from '../core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ItemStore } from '../http/host-port.ts';
import { iso, readItemPage, refuseStale, revisionOf, weightOf } from '../inbox/item-page.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import {
  dropped,
  dropSend,
  laneOf,
  type OutboxRow,
  readSend,
  replayed,
  replaySend,
  type SendHead,
} from './outbox-store.ts';

export interface OutboxAdminDeps {
  readonly core: Core;
  readonly sender: LaneRunner<SendHead>;
}

export function createOutboxAdmin({ core, sender }: OutboxAdminDeps): ItemStore {
  const find = async (id: string): Promise<OutboxRow> => {
    const row = await readSend(core.reader, id);
    if (row === undefined) throw new SvcError('not_found', 'no outbox item has this id', { hint: 'svc outbox list' });
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
    page: (request) => readItemPage(core, { table: 'outbox', summary }, request),
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
    async replay(id, { caller, revision, answer = 'again', keep }) {
      const row = await find(id);
      refuseStale('outbox item', row, revision);
      const event = { ...head(row, caller.actor), type: 'outbox.replayed', data: { item: row.id, answer } } as const;
      const result = await core.writer.commit({
        name: 'outbox.replay',
        statements: [
          replaySend(row, answer, event.at),
          ...(keep?.(summary({ ...row, ...replayed(answer, event.at) }, true)) ?? []),
          ...recordEvents([event]),
        ],
      });
      if (result.kind === 'refused') {
        refuseStale('outbox item', await find(row.id), revision);
        throw new SvcError(
          'conflict',
          `outbox item ${row.id} is ${row.state}, only a dead or unknown one with its text is sent again`,
        );
      }
      sender.reread();
      return summary(await find(row.id), true);
    },
    async drop(id, { caller, revision, reason: written, keep }) {
      const reason = maskedText(core, written);
      const row = await find(id);
      refuseStale('outbox item', row, revision);
      if (row.is_dropped === 1) throw new SvcError('conflict', `outbox item ${row.id} is dropped already`);
      const event = { ...head(row, caller.actor), type: 'outbox.dropped', data: { item: row.id, reason } } as const;
      const result = await core.writer.commit({
        name: 'outbox.drop',
        statements: [
          dropSend(row, event.at, reason),
          ...(keep?.(summary({ ...row, ...dropped(event.at, reason) }, true)) ?? []),
          ...recordEvents([event]),
        ],
      });
      if (result.kind === 'refused') {
        refuseStale('outbox item', await find(row.id), revision);
        throw new SvcError('conflict', `outbox item ${row.id} is ${row.state} already`);
      }
      sender.dropped(laneOf(row.endpoint, row.conversation), row.id);
      return summary(await find(row.id), true);
    },
  };
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
    from: row.item_id,
    ...(texts
      ? {
          ...weightOf(row),
          key: row.key,
          conversation: row.conversation,
          lastError: row.last_error,
          platformMessage: row.platform_message,
        }
      : {}),
  };
}
