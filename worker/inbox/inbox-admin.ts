// Operator actions on the inbox: list, show, replay, hold, drop. Each change records an event and is guarded by the revision that the operator saw.
import { capabilityForDemo } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, maskedText } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ItemStore, ReasonedChange } from '../http/api/items-api.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import type { Inbox } from './inbox.ts';
import { type InboxRow, type ItemHead, readRuns } from './inbox-store.ts';
import { iso, readItemPage, refuseStale, revisionOf, weightOf } from './item-page.ts';
import {
  dropItem,
  dropped,
  held,
  keepFromHandlers,
  REPLAYED,
  readCalled,
  replayItem,
  settleCalls,
} from './operator-store.ts';

export interface InboxAdminDeps extends InboxRunners {
  readonly core: Core;
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

export function createInboxAdmin({ core, ...runners }: InboxAdminDeps): ItemStore {
  const follow = followInbox(runners);
  const find = async (id: string): Promise<InboxRow> => {
    const exact = sql.selectFrom('inbox').selectAll();
    const row = await core.reader.first(
      SHORT_REF.test(id) ? exact.where('id', 'like', `%${id}`) : exact.where('id', '=', id),
    );
    if (row === undefined) throw new SvcError('not_found', 'no inbox item has this id', { hint: 'svc inbox list' });
    return row;
  };
  /** Commits an operator's end of an item, then updates the runners of this process. */
  const end = async (row: InboxRow, change: ReasonedChange, { type, statement, becomes }: End): Promise<UnitAnswer> => {
    refuseStale('inbox item', row, change.revision);
    const event = {
      type,
      at: core.clock.now(),
      runtimeId: core.runtimeId,
      endpoint: row.endpoint,
      actor: change.caller.actor,
      correlationId: row.correlation_id ?? undefined,
      data: { item: row.id, reason: maskedText(core, change.reason), was: row.state },
    } as const;
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
      const event = {
        type: 'inbox.replayed',
        at: core.clock.now(),
        runtimeId: core.runtimeId,
        endpoint: row.endpoint,
        actor: caller.actor,
        correlationId: row.correlation_id ?? undefined,
        data: { item: row.id },
      } as const;
      const answer = await core.writer.commit({
        name: 'inbox.replay',
        statements: [
          ...replayItem(row),
          settleCalls(row.id, decision ?? 'again'),
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
  };
  return admin;
}

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
    ...(texts
      ? { ...weightOf(row), deliveryId: row.delivery_id, lane: row.lane, lastError: row.last_error, actor: row.actor }
      : {}),
  };
}
