// Acceptance of the running host: judges facts, and stores what a person has accepted. Loaded by the first question.
//
//   HOST-ACCEPTANCE-1  An acceptance and its event are one unit. Two at the same time do not get one number.
//   HOST-ACCEPTANCE-2  Facts are read when they are asked for. Nothing is kept between two questions.
import type { Acceptance, AcceptanceAsk } from '../../../shared/api/recovery/acceptance.ts';
import { ACCEPTANCE_ROWS, isAccepted, judgeAcceptance, type Settled } from '../../../shared/recovery/acceptance.ts';
import { commitOrThrow, maskedText } from '../../core/core.ts';
import { sql, statement } from '../../database/statement.ts';
import { recordEvents } from '../../events/event-history.ts';
import type { AcceptanceApi } from '../../http/api/acceptance-api.ts';
import type { Parts } from '../app-parts.ts';
import { acceptanceFacts } from './facts.ts';

export function createAcceptance(parts: Parts): AcceptanceApi {
  const { core } = parts;
  let turn: Promise<unknown> = Promise.resolve();
  return {
    async judge(span) {
      const facts = await acceptanceFacts(parts, span);
      return { accepted: false, id: null, rows: judgeAcceptance(facts), facts };
    },
    accept(caller, ask, keep) {
      const next = turn.then(async (): Promise<Acceptance> => {
        const facts = { ...(await acceptanceFacts(parts, ask)), health: ask.health ?? [] };
        const rows = judgeAcceptance(facts, masked(core, ask));
        if (!isAccepted(rows)) return { accepted: false, id: null, rows, facts };
        const last = await core.reader.first(sql.selectFrom('acceptances').select('id').orderBy('id', 'desc').limit(1));
        const accepted = { accepted: true, id: (last?.id ?? 0) + 1, rows, facts };
        const at = core.clock.now();
        const release = facts.release?.name ?? null;
        const row = {
          id: accepted.id,
          at,
          actor: caller.actor,
          release,
          facts: JSON.stringify(facts),
          rows: JSON.stringify(rows),
        };
        const settled = rows.flatMap((one) => (one.settled === null ? [] : [one.row]));
        const event = {
          type: 'host.accepted',
          at,
          runtimeId: core.runtimeId,
          actor: caller.actor,
          ...(facts.capability.generation === null ? {} : { generation: facts.capability.generation }),
          data: { acceptance: accepted.id, release, settled },
        } as const;
        await commitOrThrow(core.writer, {
          name: 'host.accepted',
          statements: [
            statement(sql.insertInto('acceptances').values(row)),
            ...keep(accepted),
            ...recordEvents([event]),
          ],
        });
        return accepted;
      });
      turn = next.catch(() => {}); // the caller gets the error
      return next;
    },
  };
}

const masked = (core: Parts['core'], { settled = {} }: AcceptanceAsk): Settled =>
  Object.fromEntries(
    ACCEPTANCE_ROWS.flatMap((row) => {
      const reason = settled[row];
      return reason === undefined ? [] : [[row, maskedText(core, reason)]];
    }),
  );
