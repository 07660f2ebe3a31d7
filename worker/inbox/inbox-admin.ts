// Operator actions on the inbox: list, show, replay, hold, drop. Each change records an event and is guarded by the revision that the operator saw.
import { sql as raw } from 'kysely';
import { capabilityForDemo } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, maskedText } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ItemStore, ReasonedChange } from '../http/api/items-api.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { BULK_ITEMS, type BulkItem, changeInBulk, replayable } from './bulk-change.ts';
import { readCauseGroups } from './cause-groups.ts';
import type { Inbox } from './inbox.ts';
import { type InboxRow, type ItemHead, readRuns } from './inbox-store.ts';
import { iso, readItemPage, refuseStale, revisionOf, weightOf } from './item-page.ts';
import {
  dropItem,
  dropItems,
  dropped,
  held,
  keepFromHandlers,
  REPLAYED,
  readCalled,
  replayItem,
  replayItems,
  settleCalls,
} from './operator-store.ts';

export interface InboxAdminDeps extends InboxRunners {
  readonly core: Core;
  /** How many items the inbox takes back at once. Left out: any number. */
  readonly room?: () => number;
  /** What goes on again with replayed items of these ids, in the same unit. */
  readonly reopen?: (ids: readonly string[]) => Statement;
}

/** The in-memory state of open items in this process. */
export interface InboxRunners {
  readonly inbox: Pick<Inbox, 'release' | 'returned'>;
  readonly dispatcher: Pick<LaneRunner<ItemHead>, 'dropped' | 'reread'>;
}

interface End {
  readonly type: 'inbox.held' | 'inbox.dropped';
  readonly statement: Statement;
  readonly becomes: Partial<InboxRow>;
}

/** The reference that users see in an error reply: the last 12 digits of the item's id. */
const SHORT_REF = /^[0-9a-f]{12}$/;
const OPEN_STATES: readonly string[] = ['received', 'handling', 'waiting'];

type EndedRow = Pick<InboxRow, 'id' | 'lane' | 'endpoint' | 'kind' | 'bytes' | 'state'>;

/** Updates memory after an operator's change is committed. `state` is the state before the change. */
export const followInbox = ({ inbox, dispatcher }: InboxRunners) => ({
  ended(row: EndedRow): void {
    if (OPEN_STATES.includes(row.state)) inbox.release(row);
    dispatcher.dropped(row.lane, row.id);
  },
  returned(row: EndedRow): void {
    inbox.returned(row);
    dispatcher.reread();
  },
});

export function createInboxAdmin({ core, room = () => BULK_ITEMS, reopen, ...runners }: InboxAdminDeps): ItemStore {
  const reopened = (ids: readonly string[]): readonly Statement[] => (reopen === undefined ? [] : [reopen(ids)]);
  const follow = followInbox(runners);
  const find = async (id: string): Promise<InboxRow> => {
    const exact = sql.selectFrom('inbox').selectAll();
    const row = await core.reader.first(
      SHORT_REF.test(id) ? exact.where('id', 'like', `%${id}`) : exact.where('id', '=', id),
    );
    if (row === undefined) throw new SvcError('not_found', 'no inbox item has this id', { hint: 'svc inbox list' });
    return row;
  };
  const headOf = (row: Pick<InboxRow, 'endpoint' | 'correlation_id'>, actor: string) => ({
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    endpoint: row.endpoint,
    actor,
    correlationId: row.correlation_id ?? undefined,
  });
  /** Commits an operator's end of an item, then updates the runners of this process. */
  const end = async (row: InboxRow, change: ReasonedChange, { type, statement, becomes }: End): Promise<UnitAnswer> => {
    refuseStale('inbox item', row, change.revision);
    const data = { item: row.id, reason: maskedText(core, change.reason), was: row.state };
    const event = { ...headOf(row, change.caller.actor), type, data } as const;
    const answer = await core.writer.commit({
      name: type === 'inbox.held' ? 'inbox.hold' : 'inbox.drop',
      statements: [
        statement,
        ...(change.keep?.(summary({ ...row, ...becomes }, true)) ?? []),
        ...recordEvents([event]),
      ],
    });
    if (answer.kind === 'committed') follow.ended(row);
    return answer;
  };
  const admin: ItemStore = {
    page: (request) => readItemPage(core, { table: 'inbox', summary }, request),
    async show(id, texts) {
      const row = await find(id);
      const runs = await readRuns(core.reader, row.id);
      const handlers = runs.map((run) => ({
        handler: texts ? run.handler : capabilityForDemo(run.handler),
        attempts: run.attempts,
        verdict: run.verdict,
        error: texts ? run.error : null,
        nextAt: iso(run.next_at),
      }));
      return {
        item: {
          ...summary(row, texts),
          handlers,
          ...(texts ? { payload: row.body === null ? null : (JSON.parse(row.body) as unknown) } : {}),
        },
        revision: revisionOf(row),
      };
    },
    async replay(id, { caller, revision, answer: decision, keep }) {
      const row = await find(id);
      refuseStale('inbox item', row, revision);
      const called = await readCalled(core.reader, row.id);
      if (called !== undefined && decision === undefined) {
        throw new SvcError('conflict', `nobody knows whether step "${called.step}" of inbox item ${row.id} was done`, {
          hint: 'look it up, then replay with the answer "again" or "done"',
        });
      }
      const event = { ...headOf(row, caller.actor), type: 'inbox.replayed', data: { item: row.id } } as const;
      const answer = await core.writer.commit({
        name: 'inbox.replay',
        statements: [
          ...replayItem(row),
          ...reopened([row.id]),
          settleCalls([row.id], decision ?? 'again'),
          ...(keep?.(summary({ ...row, ...REPLAYED }, true)) ?? []),
          ...recordEvents([event]),
        ],
      });
      if (answer.kind === 'refused') {
        refuseStale('inbox item', await find(row.id), revision);
        throw new SvcError(
          'conflict',
          `inbox item ${row.id} is ${row.state}, only a dead one with its text is replayed`,
        );
      }
      follow.returned(row);
      return summary(await find(row.id), true);
    },
    async hold(id, change) {
      const row = await find(id);
      const at = core.clock.now();
      const error = `held: ${maskedText(core, change.reason)}`;
      const answer = await end(row, change, {
        type: 'inbox.held',
        statement: keepFromHandlers(row, at, error),
        becomes: held(at, error),
      });
      if (answer.kind === 'refused') {
        const now = await find(row.id);
        refuseStale('inbox item', now, change.revision);
        throw new SvcError('conflict', `inbox item ${row.id} is ${now.state} already`);
      }
      return summary(await find(row.id), true);
    },
    async drop(id, change) {
      const row = await find(id);
      const at = core.clock.now();
      const error = `dropped: ${maskedText(core, change.reason)}`;
      const answer = await end(row, change, {
        type: 'inbox.dropped',
        statement: dropItem(row, at, error),
        becomes: dropped(at, error),
      });
      if (answer.kind === 'refused') {
        refuseStale('inbox item', await find(row.id), change.revision);
        if (row.state !== 'dead' && (await find(id)).state === 'dead') return admin.drop(id, change); // the item became dead meanwhile
        throw new SvcError('conflict', `inbox item ${row.id} is ${row.state} already`);
      }
      return summary(await find(row.id), true);
    },
    groups: (request) => readCauseGroups(core, 'inbox', request),
    async replayMany(selection, { caller, answer, keep }) {
      if (selection.state !== 'dead') throw new SvcError('invalid_request', 'the inbox has dead items alone');
      const most = room();
      if (most <= 0) throw noRoom();
      return changeInBulk<BulkItem>(
        core,
        { table: 'inbox', selection },
        {
          name: 'inbox.replay_many',
          isEligible:
            answer === undefined ? raw<boolean>`(${replayable(selection)} AND ${HAS_NO_CALL})` : replayable(selection),
          most,
          keep,
          statements: (rows) => [
            ...replayItems(rows),
            ...reopened(idsOf(rows)),
            ...(answer === undefined ? [] : [settleCalls(idsOf(rows), answer)]),
            ...recordEvents(
              rows.map(
                (row) => ({ ...headOf(row, caller.actor), type: 'inbox.replayed', data: { item: row.id } }) as const,
              ),
            ),
          ],
          changed: (rows) => {
            for (const row of rows) runners.inbox.returned(row);
            runners.dispatcher.reread();
          },
        },
      );
    },
    async dropMany(selection, { caller, reason, keep }) {
      if (selection.state !== 'dead') throw new SvcError('invalid_request', 'the inbox has dead items alone');
      const told = maskedText(core, reason);
      return changeInBulk<BulkItem>(
        core,
        { table: 'inbox', selection },
        {
          name: 'inbox.drop_many',
          keep,
          statements: (rows) => [
            dropItems(rows, core.clock.now(), `dropped: ${told}`),
            ...recordEvents(
              rows.map(
                (row) =>
                  ({
                    ...headOf(row, caller.actor),
                    type: 'inbox.dropped',
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

const HAS_NO_CALL = raw<boolean>`NOT EXISTS (
  SELECT 1 FROM once_results WHERE once_results.item_id = inbox.id AND once_results.state = 'called'
)`;

const idsOf = (rows: readonly BulkItem[]): readonly string[] => rows.map(({ id }) => id);

const noRoom = (): SvcError =>
  new SvcError('inbox_full', 'the inbox has no room for replayed items: those that wait are handled first', {
    hint: 'repeat it in a moment; inbox.maxPending bounds the inbox',
    details: { retryAfterMs: 1_000 },
  });

function summary(row: InboxRow, texts: boolean): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    seq: row.seq,
    endpoint: row.endpoint,
    kind: row.kind,
    state: row.state,
    attempts: row.attempts,
    receivedAt: iso(row.received_at),
    nextAt: iso(row.next_at),
    doneAt: iso(row.done_at),
    capability: row.capability,
    code: row.code,
    failedHandler: row.failed_handler === null || texts ? row.failed_handler : capabilityForDemo(row.failed_handler),
    ...(texts
      ? { ...weightOf(row), deliveryId: row.delivery_id, lane: row.lane, lastError: row.last_error, actor: row.actor }
      : {}),
  };
}
