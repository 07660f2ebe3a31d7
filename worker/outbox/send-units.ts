// Builds the transaction that ends an attempt: the send's state, its next time and the event. Pure.
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { LaneOutcome } from '../lanes/lane-runner.ts';
import { putDue } from '../timers/due-store.ts';
import { dropWaiting } from './operator-store.ts';
import type { SendVerdict } from './outbox-machine.ts';
import { endSend, finishSend, type OutboxRow, postponeSend } from './outbox-store.ts';

export interface EndedSend {
  readonly verdict: SendVerdict;
  readonly attempts: number;
  readonly at: number;
}

interface Where {
  readonly lane: string;
  readonly runtimeId: string;
  readonly now: number;
}

export interface SendUnit {
  readonly name: string;
  readonly statements: readonly Statement[];
  readonly outcome: LaneOutcome;
}

export function unitOf(row: OutboxRow, { verdict, attempts, at }: EndedSend, where: Where): SendUnit {
  const told = (event: Told): readonly Statement[] => recordEvents([eventOf(row, where, event)]);
  switch (verdict.kind) {
    case 'sent': {
      const message = verdict.message ?? null;
      const { id, kind, conversation, item_id: from } = row;
      const data = { item: id, kind, attempts, conversation, from, platformMessage: message };
      const statements = [finishSend({ id, message, at, attempts }), ...told({ type: 'outbox.sent', data })];
      return { name: 'outbox.sent', statements, outcome: 'left' };
    }
    case 'waiting': {
      const { delayMs, code, reason } = verdict;
      const nextAt = at + delayMs;
      const { id } = row;
      const statements = [
        postponeSend({ id, nextAt, error: reason, attempts, failures: row.failures + 1 }),
        putDue({ id: `outbox/${id}`, kind: 'outbox', at: nextAt, capability: null, lane: where.lane, data: id }),
        ...told({ type: 'outbox.waiting', data: { item: id, attempts, delayMs, code, reason } }),
      ];
      return { name: 'outbox.waiting', statements, outcome: 'waiting' };
    }
    case 'unknown':
    case 'dead': {
      const { kind, reason } = verdict;
      const code = codeOf(verdict);
      const data = { item: row.id, attempts, code, reason };
      const statements = [
        endSend({ id: row.id, state: kind, at, code, error: reason, attempts }),
        ...told({ type: kind === 'dead' ? 'outbox.dead' : 'outbox.unknown', data }),
      ];
      return { name: `outbox.${kind}`, statements, outcome: 'left' };
    }
  }
}

/** The stable code of a send's end. */
export const codeOf = (verdict: Extract<SendVerdict, { kind: 'dead' | 'unknown' }>): string =>
  verdict.kind === 'dead' ? verdict.code : 'result_unknown';

/** Postpones the send as if this attempt had not been made. */
export const putOffSend = (
  { id, attempts, failures }: OutboxRow,
  { reason, nextAt, lane }: { readonly reason: string; readonly nextAt: number; readonly lane: string },
): readonly Statement[] => [
  postponeSend({ id, nextAt, error: reason, attempts, failures }),
  putDue({ id: `outbox/${id}`, kind: 'outbox', at: nextAt, capability: null, lane, data: id }),
];

/** Sends of the host itself for which a newer one stands. */
export const replaceSends = (
  rows: readonly Pick<OutboxRow, 'id' | 'endpoint' | 'state'>[],
  { reason, at, runtimeId, actor }: ReplacedBy,
): { readonly statement: Statement; readonly events: readonly NewEvent[] } => ({
  statement: dropWaiting(rows, at, reason),
  events: rows.map(({ id, endpoint, state }) => ({
    type: 'outbox.dropped',
    at,
    runtimeId,
    endpoint,
    actor,
    data: { item: id, reason, was: state },
  })),
});

interface ReplacedBy {
  readonly reason: string;
  readonly at: number;
  readonly runtimeId: string;
  readonly actor: string;
}

type Told = Pick<Extract<NewEvent, { type: `outbox.${string}` }>, 'type' | 'data'>;

const eventOf = (row: OutboxRow, { runtimeId, now }: Where, event: Told): NewEvent =>
  ({
    type: event.type,
    data: event.data,
    at: now,
    runtimeId,
    endpoint: row.endpoint,
    correlationId: row.correlation_id ?? undefined,
    causationId: row.item_id ?? undefined,
    actor: row.actor ?? undefined,
  }) as NewEvent;
