// Looks at the releases of a running host: judges the one whose window runs, and records what commands have changed.
//
// A command moves a release while the host is stopped, so it cannot write events. What was told last is stored in the unit that tells it: after a
// kill, and after a rollback to former data, nothing is missing from the history and nothing stands in it twice.
import {
  type ReleaseRecord,
  readRelease,
  releaseNames,
  windowOf,
  writeRelease,
} from '../../../shared/recovery/release-record.ts';
import type { Core } from '../../core/core.ts';
import { readMeta, writeMeta } from '../../database/project-state.ts';
import { recordEvents } from '../../events/event-history.ts';
import type { NewEvent } from '../../events/event-types.ts';
import { judge } from './verdict.ts';
import { readWindow, requiredNames } from './window-facts.ts';

export type StoredVerdict = NonNullable<ReleaseRecord['verdict']>;

export interface LastVerdict extends StoredVerdict {
  readonly release: string;
}

export interface WatchOptions {
  readonly core: Core;
  readonly project: string;
  /** `http.readiness.endpoints`. */
  readonly required: Parameters<typeof requiredNames>[0];
}

/** What the history of events tells. */
interface Told {
  readonly release: string;
  /** Number of steps. */
  readonly steps: number;
  readonly verdict: string | null;
}

const KEY = 'release';

/** Returns the verdict on the release that is observed. Throws `refused` for a record that cannot be read, and what the database throws. */
export async function watchReleases({ core, project, required }: WatchOptions): Promise<LastVerdict | undefined> {
  const stored = await readMeta(core.reader, KEY);
  const told = stored === undefined ? undefined : (JSON.parse(stored) as Told);
  const all = releaseNames(project);
  const untold = told === undefined ? all.slice(-1) : all.filter((name) => numberOf(name) >= numberOf(told.release));
  const records = untold.map((name) => readRelease(project, name));
  const newest = records.at(-1);
  if (newest === undefined) return undefined;
  const toldOf = ({ name }: ReleaseRecord): Told | undefined => (told?.release === name ? told : undefined);
  const verdict = await judged({ core, project, required }, newest);
  const events = records.flatMap((record) => movesOf(core, record, toldOf(record)?.steps ?? 0));
  const former = toldOf(newest)?.verdict ?? null;
  if (verdict !== undefined && verdict.verdict !== former) {
    events.push(judgedEvent(core, verdict));
    if (verdict.verdict === 'bad')
      core.log.error({ release: newest.name, signal: verdict.signal }, 'the release does badly: svc release status');
  }
  if (events.length === 0) return verdict;
  const next: Told = { release: newest.name, steps: newest.steps.length, verdict: verdict?.verdict ?? former };
  const statements = [writeMeta(KEY, JSON.stringify(next)), ...recordEvents(events)];
  await core.writer.commit({ name: 'release', statements });
  return verdict;
}

/** The record keeps the verdict where it differs. */
async function judged(
  { core, project, required }: WatchOptions,
  record: ReleaseRecord,
): Promise<LastVerdict | undefined> {
  const span = windowOf(record);
  if (span === undefined) return undefined;
  const now = core.clock.now();
  const verdict = {
    ...judge(await readWindow(core.reader, { ...span, now }, requiredNames(required))),
    at: new Date(now).toISOString(),
  };
  if (verdict.verdict !== record.verdict?.verdict) {
    const present = readRelease(project, record.name);
    // A command may have done the next step meanwhile: its record stays.
    if (present.steps.length === record.steps.length) writeRelease(project, { ...present, verdict });
  }
  return { release: record.name, ...verdict };
}

/** One event a step, with the actor of the step. */
function movesOf({ clock, runtimeId }: Core, { name, steps }: ReleaseRecord, told: number): NewEvent[] {
  return steps.slice(told).map(({ state, actor }, index) => ({
    type: 'release.changed',
    at: clock.now(),
    runtimeId,
    subject: name,
    actor,
    data: { release: name, from: steps[told + index - 1]?.state ?? null, to: state },
  }));
}

const judgedEvent = ({ clock, runtimeId }: Core, { release, verdict, signal }: LastVerdict): NewEvent => ({
  type: 'release.judged',
  at: clock.now(),
  runtimeId,
  subject: release,
  data: { release, verdict, signal },
});

const numberOf = (name: string): number => Number(name.slice(1));
