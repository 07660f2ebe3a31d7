// Operator actions on the outbox: list, show, replay (or mark as sent), hold, drop.
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, maskedText } from '../core/core.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ItemStore, ReasonedChange, Selection } from '../http/api/items-api.ts';
import { type BulkSend, changeInBulk, replayable } from '../inbox/bulk-change.ts';
import { readCauseGroups } from '../inbox/cause-groups.ts';
import { iso, readItemPage, refuseStale, revisionOf, weightOf } from '../inbox/item-page.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { dropped, dropSend, dropSends, held, holdSend, replayed, replaySend, replaySends } from './operator-store.ts';
import { laneOf, type OutboxRow, readSend, type SendHead } from './outbox-store.ts';

export interface OutboxAdminDeps {
  readonly core: Core;
  readonly sender: Pick<LaneRunner<SendHead>, 'dropped' | 'reread'>;
}

interface End {
  readonly type: 'outbox.held' | 'outbox.dropped';
  readonly statement: Statement;
  readonly becomes: Partial<OutboxRow>;
}

export function createOutboxAdmin({ core, sender }: OutboxAdminDeps): ItemStore {
  const find = async (id: string): Promise<OutboxRow> => {
    const row = await readSend(core.reader, id);
    if (row === undefined) throw new SvcError('not_found', 'no outbox item has this id', { hint: 'svc outbox list' });
    return row;
  };
  const head = (row: Pick<OutboxRow, 'endpoint' | 'correlation_id'>, actor: string) => ({
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    endpoint: row.endpoint,
    actor,
    correlationId: row.correlation_id ?? undefined,
  });
  /** Commits an operator's end of a send, then updates the sender of this process. */
  const end = async (
    row: OutboxRow,
    change: ReasonedChange,
    { type, statement, becomes }: End,
  ): Promise<UnitAnswer> => {
    refuseStale('outbox item', row, change.revision);
    const data = { item: row.id, reason: maskedText(core, change.reason), was: row.state };
    const event = { ...head(row, change.caller.actor), type, data } as const;
    const answer = await core.writer.commit({
      name: type === 'outbox.held' ? 'outbox.hold' : 'outbox.drop',
      statements: [
        statement,
        ...(change.keep?.(summary({ ...row, ...becomes }, true)) ?? []),
        ...recordEvents([event]),
      ],
    });
    if (answer.kind === 'committed') sender.dropped(laneOf(row.endpoint, row.conversation), row.id);
    return answer;
  };
  const admin: ItemStore = {
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
    async hold(id, change) {
      const reason = maskedText(core, change.reason);
      const row = await find(id);
      const at = core.clock.now();
      const result = await end(row, change, {
        type: 'outbox.held',
        statement: holdSend(row, at, reason),
        becomes: held(row.state, at, reason),
      });
      if (result.kind === 'refused') {
        const now = await find(row.id);
        refuseStale('outbox item', now, change.revision);
        if (now.state !== row.state && now.done_at === null) return admin.hold(id, change); // its call began meanwhile
        throw new SvcError('conflict', `outbox item ${row.id} is ${now.state} already`);
      }
      return summary(await find(row.id), true);
    },
    async drop(id, change) {
      const reason = maskedText(core, change.reason);
      const row = await find(id);
      refuseStale('outbox item', row, change.revision);
      if (row.is_dropped === 1) throw new SvcError('conflict', `outbox item ${row.id} is dropped already`);
      const at = core.clock.now();
      const result = await end(row, change, {
        type: 'outbox.dropped',
        statement: dropSend(row, at, reason),
        becomes: dropped(at, reason),
      });
      if (result.kind === 'refused') {
        refuseStale('outbox item', await find(row.id), change.revision);
        throw new SvcError('conflict', `outbox item ${row.id} is ${row.state} already`);
      }
      return summary(await find(row.id), true);
    },
    groups: (request) => readCauseGroups(core, 'outbox', request),
    async replayMany(selection, { caller, answer, keep }) {
      const { state } = selection;
      refuseHandler(selection);
      if (state === 'unknown' && answer === undefined)
        throw new SvcError(
          'invalid_request',
          'a replay of unknown sends needs `answer`: nobody knows whether they went out',
          {
            hint: '"again" sends them once more, "done" takes them as sent',
          },
        );
      const told = answer ?? 'again';
      return changeInBulk<BulkSend>(
        core,
        { table: 'outbox', selection },
        {
          name: 'outbox.replay_many',
          isEligible: replayable(selection, told === 'again'),
          keep,
          statements: (rows) => [
            replaySends(rows, { state, at: core.clock.now(), answer: told }),
            ...recordEvents(
              rows.map(
                (row) =>
                  ({
                    ...head(row, caller.actor),
                    type: 'outbox.replayed',
                    data: { item: row.id, answer: told },
                  }) as const,
              ),
            ),
          ],
          changed: () => sender.reread(),
        },
      );
    },
    async dropMany(selection, { caller, reason, keep }) {
      const { state } = selection;
      refuseHandler(selection);
      const told = maskedText(core, reason);
      return changeInBulk<BulkSend>(
        core,
        { table: 'outbox', selection },
        {
          name: 'outbox.drop_many',
          keep,
          statements: (rows) => [
            dropSends(rows, { state, at: core.clock.now(), reason: told }),
            ...recordEvents(
              rows.map(
                (row) =>
                  ({
                    ...head(row, caller.actor),
                    type: 'outbox.dropped',
                    data: { item: row.id, reason: told, was: row.state },
                  }) as const,
              ),
            ),
          ],
          changed: () => {},
        },
      );
    },
  };
  return admin;
}

/** A filter that would be dropped silently could end far more than was meant. */
function refuseHandler({ handler }: Selection): void {
  if (handler !== undefined)
    throw new SvcError('invalid_request', '`handler` selects items of the inbox alone: a send has none');
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
    code: row.code,
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
