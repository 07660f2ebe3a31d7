// What the metrics of the Workroom show.
import type { Core } from '../core/core.ts';
import type { WorkroomFigures } from '../metrics/workroom-metrics.ts';
import { readCounts, readHead, readOverdue } from './read-catalog.ts';

export async function readFigures({ reader }: Core, isSound: boolean | undefined): Promise<WorkroomFigures> {
  const counts = await readCounts(reader);
  const overdue = await readOverdue(reader);
  return {
    items: counts.map(({ board, state, items }) => ({ board: board ?? '', state: state ?? '', count: items })),
    overdue: overdue.map(({ board, items }) => ({ board: board ?? '', count: items })),
    seq: (await readHead(reader)).seq,
    isSound,
  };
}
