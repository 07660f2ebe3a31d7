// What an operator does with the inbox: look, replay a dead item, drop one. Each change has an event and a guard on what was seen.
import { capabilityForDemo } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, maskedText } from '../core.ts';
import { sql } from '../database/statement.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ItemStore } from '../http/host-port.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import type { Inbox } from './inbox.ts';
import {
  dropItem,
  dropped,
  type InboxRow,
  type ItemHead,
  REPLAYED,
  readCalled,
  readRuns,
  replayItem,
  settleCalls,
} from './inbox-store.ts';
import { iso, readItemPage, refuseStale, revisionOf, weightOf } from './item-page.ts';

export interface InboxAdminDeps {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly dispatcher: LaneRunner<ItemHead>;
}

/** What people are told of an item that failed: the end of its id. */
const SHORT_REF = /^[0-9a-f]{12}$/;
const OPEN_STATES: readonly string[] = ['received', 'handling', 'waiting'];

export function createInboxAdmin({ core, inbox, dispatcher }: InboxAdminDeps): ItemStore {
  const find = async (id: string): Promise<InboxRow> => {
    const exact = sql.selectFrom('inbox').selectAll();
    const row = await core.reader.first(
      SHORT_REF.test(id) ? exact.where('id', 'like', `%${id}`) : exact.where('id', '=', id),
    );
    if (row === undefined) throw new SvcError('not_found', 'no inbox item has this id', { hint: 'svc inbox list' });
    return row;
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
      inbox.returned(row);
      dispatcher.reread();
      return summary(await find(row.id), true);
    },
    async drop(id, change) {
      const { caller, revision, keep } = change;
      const reason = maskedText(core, change.reason);
      const row = await find(id);
      refuseStale('inbox item', row, revision);
      const at = core.clock.now();
      const event = {
        type: 'inbox.dropped',
        at,
        runtimeId: core.runtimeId,
        endpoint: row.endpoint,
        actor: caller.actor,
        correlationId: row.correlation_id ?? undefined,
        data: { item: row.id, reason },
      } as const;
      const answer = await core.writer.commit({
        name: 'inbox.drop',
        statements: [
          dropItem(row, at, `dropped: ${reason}`),
          ...(keep?.(summary({ ...row, ...dropped(at, `dropped: ${reason}`) }, true)) ?? []),
          ...recordEvents([event]),
        ],
      });
      if (answer.kind === 'refused') {
        refuseStale('inbox item', await find(row.id), revision);
        if (row.state !== 'dead' && (await find(id)).state === 'dead') return admin.drop(id, change); // it died meanwhile
        throw new SvcError('conflict', `inbox item ${row.id} is ${row.state} already`);
      }
      if (OPEN_STATES.includes(row.state)) inbox.release(row);
      dispatcher.dropped(row.lane, row.id);
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
