// Proves the journal of a running host in slices, so that the loop is never held. A stream with a damaged event takes no command until an operator
// releases it; the others go on.
import type { Verification } from '../../../shared/api/workroom.ts';
import type { Core } from '../../core/core.ts';
import { turns } from '../../core/turns.ts';
import { sql, statement } from '../../database/statement.ts';
import { recordEvents } from '../../events/event-history.ts';
import type { NewEvent } from '../../events/event-types.ts';
import { readHead } from '../read-catalog.ts';
import type { JournalSource } from './journal.ts';
import { JournalCheck, type JournalFault } from './verify.ts';

const SLICE = 500;

/** Reads everything up to the head of now. What is committed meanwhile is left to the next proof. */
export async function scrub(core: Core, source: JournalSource): Promise<Verification> {
  const startedAt = core.clock.monotonic();
  const head = await readHead(core.reader);
  const check = new JournalCheck({ projectId: core.projectId, head, isMoving: true });
  await source.prove(check, { head, pause: () => turns(1) });
  if (check.lacksWords()) await explainLater(check, source, head.seq);
  check.endJournal();
  for (let after = ''; ; ) {
    const rows = await core.reader.all(
      sql.selectFrom('workroom_catalog').selectAll().where('stream', '>', after).orderBy('stream').limit(SLICE),
    );
    for (const row of rows) check.addCatalog(row);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.stream;
    await turns(1);
  }
  const { faults } = check.end();
  const ms = Math.round(core.clock.monotonic() - startedAt);
  const at = new Date(core.clock.now()).toISOString();
  await noteFaults(core, { faults, ms, seq: head.seq, releases: check.releases });
  return { at, ...head, ms, faults: faults.map((fault) => ({ ...fault })) };
}

/** The host erases while the proof goes on: what says so lies behind its head. */
async function explainLater(check: JournalCheck, source: JournalSource, head: number): Promise<void> {
  for (let after = head; ; ) {
    const rows = await source.slice({ after, limit: SLICE });
    for (const row of rows) check.explain(row);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

interface Found {
  readonly faults: readonly JournalFault[];
  readonly seq: number;
  readonly ms: number;
  readonly releases: ReadonlyMap<string, number>;
}

async function noteFaults(core: Core, { faults, ms, seq, releases }: Found): Promise<void> {
  const base = { at: core.clock.now(), runtimeId: core.runtimeId };
  const events: NewEvent[] =
    faults.length === 0
      ? [{ ...base, type: 'workroom.verified', data: { seq, ms } }]
      : faults.map(({ fault, seq: place, stream }) => ({
          ...base,
          type: 'workroom.damaged',
          data: { seq: place, fault, stream: stream ?? '' },
        }));
  for (const { fault, seq: place, stream } of faults)
    core.log.error({ fault, seq: place, stream }, 'the journal of the Workroom is damaged: svc workroom verify');
  // An operator has looked at the faults before a release.
  const streams = faults.flatMap(({ stream, seq: place }) =>
    stream !== null && place > (releases.get(stream) ?? -1) ? [stream] : [],
  );
  const quarantine = statement(
    sql.updateTable('workroom_catalog').set({ quarantined: 1 }).where('stream', 'in', streams),
  );
  const statements = [...(streams.length === 0 ? [] : [quarantine]), ...recordEvents(events)];
  await core.writer.commit({ name: 'workroom.verified', statements });
}
