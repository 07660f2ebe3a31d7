// Due rows of all items, as the settings have them: when an item counts as stuck, and how often it is announced again.
//
//   PLAN-DUES-1  `append` puts a due row only where the next announcement of an item comes earlier (JOURNAL-5). So a change of the settings looks at
//                every item once. The note of the settings is taken away first and written last: a start after a kill begins again.
//   PLAN-DUES-2  A run that began before a reload may still commit what it planned by the former settings. So the note waits for a look once such
//                runs have ended.
import type { Selectable } from 'kysely';
import { type Core, commitOrThrow } from '../core/core.ts';
import { turns } from '../core/turns.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';
import { preparedRead, sql } from '../database/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { putDueNoLater } from '../timers/due-store.ts';
import { dueRow, nextAnnouncement, type Reminding } from './board/due-times.ts';
import { isEnded } from './board/model.ts';
import { entityOf } from './journal/catalog-rows.ts';

/** Key of the settings for which the due rows were planned. */
const PLANNED_FOR = 'workroom_reminding';
const NOT_PLANNED = '';
const SLICE = 200;

const noteOf = ({ stuckMs, remindMs }: Reminding): string => JSON.stringify({ stuckMs, remindMs });

/** For a unit that plans all items. */
export const notePlanned = (reminding: Reminding): Statement => writeMeta(PLANNED_FOR, noteOf(reminding));

export interface PlanningDues {
  readonly core: Pick<Core, 'reader' | 'writer'>;
  readonly reminding: Reminding;
  /** Told the earliest time of the rows of a slice. */
  readonly due: (at: number) => void;
  /** Ends it between two slices; the next start begins again. */
  readonly isStopped?: () => boolean;
  /** PLAN-DUES-2: the note is not written yet. */
  readonly hasFormerRuns?: boolean;
}

/** Tells whether the settings are noted as planned. Throws what the database throws. */
export async function planDues(planning: PlanningDues): Promise<boolean> {
  const { core, reminding, due, isStopped = () => false, hasFormerRuns = false } = planning;
  const { reader, writer } = core;
  const commit = (statements: readonly Statement[]) => commitOrThrow(writer, { name: 'workroom.planned', statements });
  const note = await readMeta(reader, PLANNED_FOR);
  if (note === noteOf(reminding)) return true;
  if (note !== NOT_PLANNED) await commit([writeMeta(PLANNED_FOR, NOT_PLANNED)]);
  for await (const rows of slicesOf(reader)) {
    if (isStopped()) return false;
    const planned = rows.flatMap((row) => plannedOf(row, reminding));
    if (planned.length === 0) continue;
    await commit(planned.map(({ item, at }) => putDueNoLater({ ...dueRow(item), at })));
    due(Math.min(...planned.map(({ at }) => at)));
  }
  if (!hasFormerRuns) await commit([notePlanned(reminding)]);
  return !hasFormerRuns;
}

function plannedOf(row: ItemRow, reminding: Reminding): { readonly item: string; readonly at: number }[] {
  const entity = entityOf(row);
  if (entity.kind !== 'item' || isEnded(entity.item)) return [];
  const at = nextAnnouncement(entity.item, reminding);
  return at === undefined ? [] : [{ item: entity.item.id, at }];
}

type ItemRow = Pick<Selectable<Tables['workroom_catalog']>, 'stream' | 'kind' | 'data'>;

const itemsAfter = preparedRead<{ after: string }, ItemRow>(({ after }) =>
  sql
    .selectFrom('workroom_catalog')
    .select(['stream', 'kind', 'data'])
    .where('stream', '>', after)
    .where('stream', '<', 'item0')
    .orderBy('stream')
    .limit(SLICE),
);

async function* slicesOf(reader: Reader): AsyncGenerator<readonly ItemRow[]> {
  for (let after = 'item/'; ; ) {
    const rows = await reader.all(itemsAfter({ after }));
    if (rows.length > 0) yield rows;
    if (rows.length < SLICE) return;
    after = rows.at(-1)?.stream ?? after;
    await turns(1);
  }
}
