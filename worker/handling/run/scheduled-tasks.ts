// Waiting tasks as a run sees them: rows of the due table, overlaid with what the run has scheduled and cancelled.
import type { Reader } from '../../database/unit.ts';
import type { Scheduled, ScheduledPage } from '../../sdk/index.ts';
import { check } from '../../sdk/schema/check.ts';
import { readTasks } from '../../timers/due-store.ts';
import { coded } from './cause.ts';
import type { Run, TaskRow } from './run.ts';

const MOST_TASKS = 1_000;

interface TasksOf {
  readonly reader: Reader;
  readonly run: Run;
  /** How the ids of this task's rows begin. The key that the plugin gave follows. */
  readonly begin: string;
  readonly schema: unknown;
}

/** Tasks whose stored data no longer fits the schema are left out: they end as dead letters when they are due. */
export async function listTasks(
  { reader, run, begin, schema }: TasksOf,
  { prefix = '', limit = 100 }: ScheduledPage,
): Promise<readonly Scheduled<unknown>[]> {
  if (typeof prefix !== 'string' || !Number.isInteger(limit) || limit < 0)
    throw coded('no_page', 'scheduled: prefix has to be a text, limit a whole number from 0');
  const from = `${begin}${prefix}`;
  const most = Math.min(limit, MOST_TASKS);
  const changed = changedIn(run, from);
  const stored = await readTasks(reader, { from, to: `${from}\u{10ffff}`, limit: most + changed.size });
  const untouched = stored.filter(({ id }) => !changed.has(id));
  for (const { id, at, data } of untouched) run.tasks.set(id, { id, at, data });
  const own = [...changed.values()].flatMap((row) => row ?? []);
  return [...untouched, ...own]
    .toSorted((a, b) => a.at - b.at)
    .slice(0, most)
    .flatMap(({ id, at, data }) => {
      const read = check(schema, JSON.parse(data), { open: true });
      return read.ok ? [{ key: id.slice(begin.length), at, data: read.value }] : [];
    });
}

/** Tasks that the run itself has scheduled, or cancelled (undefined). */
function changedIn({ effects }: Run, from: string): ReadonlyMap<string, TaskRow | undefined> {
  const changed = new Map<string, TaskRow | undefined>();
  for (const effect of effects) {
    if ((effect.kind !== 'schedule' && effect.kind !== 'cancel') || !effect.id.startsWith(from)) continue;
    const { id } = effect;
    changed.set(id, effect.kind === 'schedule' ? { id, at: effect.at, data: effect.data } : undefined);
  }
  return changed;
}
