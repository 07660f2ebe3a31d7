// Convert and rebuild of a Workroom that is stopped, under the writer lock.
import { loadConfig } from '../../shared/config/load.ts';
import type { ProjectId } from '../../shared/identifiers.ts';
import { failpointsOf } from '../../shared/process/failpoints.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { readMeta } from '../database/project-state.ts';
import { type Converted, convert, rebuildAll } from '../workroom/convert.ts';
import type { JournalStore } from '../workroom/journal/journal.ts';
import type { OpeningJournal } from '../workroom/open-journal.ts';
import type { Head } from '../workroom/read-catalog.ts';
import { findStored, type StoredPlaceOptions, writingAlone } from './stored-place.ts';
import { workroomSettings } from './workroom.ts';

/** Throws `already_running` beside a worker, `journal_damaged` for a journal that does not hold. */
export const convertWorkroom = (options: StoredPlaceOptions & { readonly to: JournalStore }): Promise<Converted> =>
  alone(options, (place) => convert(place, options.to));

/** Throws as `convertWorkroom` does. */
export const rebuildWorkroom = (options: StoredPlaceOptions): Promise<Head> => alone(options, rebuildAll);

async function alone<T>(
  { project, environment }: StoredPlaceOptions,
  work: (place: Omit<OpeningJournal, 'store'>) => Promise<T>,
): Promise<T> {
  const { config } = loadConfig({ project, mode: 'development', environment, servesNothing: true });
  if (config.host.kind !== 'workroom')
    throw new SvcError('invalid_request', 'this project is no Workroom', { hint: 'host.kind: workroom makes it one' });
  const place = findStored({ project, environment });
  if (place === undefined)
    throw new SvcError('not_found', 'there is no database yet', {
      hint: 'a start of the host makes one, and rebuilds it from files of the journal',
    });
  return writingAlone(place, async (core) => {
    const projectId = ((await readMeta(core.reader, 'project_id')) ?? '') as ProjectId;
    const { workroomJournal: folder, workroomCatalog: catalogFile } = place.paths;
    const { failpoints } = place;
    const point = FAILPOINTS ? failpointsOf(failpoints) : core.point;
    const reminding = workroomSettings(config);
    const result = await work({ core: { ...core, projectId, point }, folder, catalogFile, reminding });
    // A connection that only reads leaves a WAL behind. The writing one that closes last removes it.
    await core.writer.commit({ name: 'workroom.settled', statements: [] });
    return result;
  });
}
