// Inbox and outbox for an operator while the host does not answer. Reads the database file; changes use the host's own statements, guards
// and events.
//
//   STORED-1  A change holds the writer lock, and a start that meets the lock waits for it. If a worker holds the lock, the change is
//             written beside the worker, through SQLite's locking.
//   STORED-2  A change is on disk before the call returns.
import { resolve } from 'node:path';
import { readStatePlace } from '../../shared/config/access.ts';
import { type ProjectPaths, projectPaths } from '../../shared/files/paths.ts';
import { ensureStateFolder } from '../../shared/files/state-folder.ts';
import { newRuntimeId, type ProjectId } from '../../shared/identifiers.ts';
import { MOST_PAGE_ITEMS, MOST_REASON_CHARACTERS } from '../../shared/item-limits.ts';
import { SecretRegistry } from '../../shared/log/redaction.ts';
import { noFailpoint } from '../../shared/process/failpoints.ts';
import type { Database } from '../../shared/sqlite.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { systemClock } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import { isBeganAnew, OUTSIDE_BUSY_MS, outsideWriter } from '../database/outside-writer.ts';
import { SqliteReader } from '../database/reader.ts';
import { openReadOnly } from '../database/sqlite/connection.ts';
import { readStoredSchema } from '../database/stored-schema.ts';
import type { Writer } from '../database/unit.ts';
import { lockWriter } from '../database/writer-lock.ts';
import type { Caller } from '../http/api/caller.ts';
import type {
  BulkResult,
  CauseGroups,
  ItemStore,
  LostState,
  Page,
  PageRequest,
  Selection,
} from '../http/api/items-api.ts';
import { createInboxAdmin } from '../inbox/inbox-admin.ts';
import { reopenRuns } from '../jobs/job-store.ts';
import { createOutboxAdmin } from '../outbox/outbox-admin.ts';

const CALLER: Caller = { scope: 'full', actor: 'offline', requestId: 'offline' };

const MOST_TRIES = 5;

type StoredItem = Readonly<Record<string, unknown>>;
type Stores = Readonly<Record<StoreName, ItemStore>>;

export interface StoredItemsOptions {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type StoreName = 'inbox' | 'outbox';

/** Inbox and outbox of a host that does not answer. Each call opens the file and closes it. */
export interface StoredItems {
  readonly file: string;
  page(store: StoreName, request: Omit<PageRequest, 'texts'>): Promise<Page>;
  show(store: StoreName, id: string): Promise<StoredItem>;
  groups(store: StoreName, state: LostState): Promise<CauseGroups>;
  /** Changes one page of the selection. */
  changeMany(store: StoreName, selection: Selection, change: ManyChange): Promise<BulkResult>;
  /** `revision` undefined: changes the item in its current state. */
  change(
    store: StoreName,
    id: string,
    change: {
      readonly action: 'replay' | 'hold' | 'drop';
      readonly revision: string | undefined;
      readonly reason?: string | undefined;
      readonly answer?: 'again' | 'done' | undefined;
    },
  ): Promise<StoredItem>;
}

export interface ManyChange {
  readonly action: 'replay' | 'drop';
  readonly reason?: string | undefined;
  readonly answer?: 'again' | 'done' | undefined;
}

/** Undefined if there is no database. Throws if this version of svc cannot read it. */
export function openStoredItems({ project, environment }: StoredItemsOptions): StoredItems | undefined {
  const { filename, secrets } = readStatePlace({ project, mode: 'development', environment });
  const file = resolve(project, filename);
  const schema = readStoredSchema(file); // before SQLite opens it: closing a descriptor of the file drops this process's POSIX locks on it
  if (schema.state === 'absent') return undefined;
  if (schema.state === 'refused') throw schema.reason;
  if (schema.pending.length > 0)
    throw new SvcError('storage_unavailable', `the database lacks ${schema.pending.join(', ')} of this svc`, {
      hint: 'start the host once, which brings it up to date, or use the svc that made it',
    });
  const place = {
    file,
    paths: projectPaths(project),
    secrets,
    failpoints: FAILPOINTS ? environment['SVC_FAILPOINTS'] : undefined,
  };
  return {
    file,
    page: async (store, request) => {
      if (request.limit > MOST_PAGE_ITEMS) throw invalid(`a page has 1 to ${MOST_PAGE_ITEMS} items`);
      return reading(place, (stores) => stores[store].page({ ...request, texts: true }));
    },
    show: (store, id) => reading(place, async (stores) => (await stores[store].show(id, true)).item),
    change: async (store, id, { action, revision, reason = '', answer }) => {
      refuseLong(reason);
      const ask = (stores: Stores): Promise<StoredItem> => {
        const change = { caller: CALLER, revision };
        if (action === 'replay') return stores[store].replay(id, { ...change, answer });
        return stores[store][action](id, { ...change, reason });
      };
      return overStarts(() => writing(place, ask));
    },
    groups: (store, state) => reading(place, (stores) => stores[store].groups({ state, texts: true })),
    changeMany: async (store, selection, { action, reason = '', answer }) => {
      refuseLong(reason);
      const ask = (stores: Stores): Promise<BulkResult> =>
        action === 'replay'
          ? stores[store].replayMany(selection, { caller: CALLER, answer })
          : stores[store].dropMany(selection, { caller: CALLER, reason });
      return overStarts(() => writing(place, ask));
    },
  };
}

function refuseLong(reason: string): void {
  if (reason.length > MOST_REASON_CHARACTERS) throw invalid(`a reason has 1 to ${MOST_REASON_CHARACTERS} characters`);
}

const invalid = (message: string): SvcError => new SvcError('invalid_request', message);

interface Place {
  readonly file: string;
  readonly paths: ProjectPaths;
  readonly secrets: readonly string[];
  readonly failpoints: string | undefined;
}

async function reading<T>(place: Place, ask: (stores: Stores) => Promise<T>): Promise<T> {
  const reader = readerOf(place);
  try {
    return await ask(storesOver(place, reader, NO_WRITER));
  } finally {
    reader.end();
  }
}

/** Tries again when a host starts during the change, up to MOST_TRIES times. */
async function overStarts<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await write();
    } catch (error) {
      if (!isBeganAnew(error) || tries === MOST_TRIES) throw error;
    }
}

/** Changes under the writer lock, or beside a worker that holds it. */
async function writing<T>(place: Place, ask: (stores: Stores) => Promise<T>): Promise<T> {
  process.umask(0o077); // as in a worker: new files are private to this user
  ensureStateFolder(place.paths.stateDir);
  const lock = lockUnlessHeld(place.paths);
  const reader = readerOf(place);
  try {
    const writer = await outsideWriter({ ...place, reader, isAlone: lock !== undefined });
    return await ask(storesOver(place, reader, writer));
  } finally {
    reader.end();
    lock?.close();
  }
}

const readerOf = ({ file }: Place): SqliteReader => new SqliteReader(() => openReadOnly(file, OUTSIDE_BUSY_MS));

/** Undefined if a live worker holds the lock. */
function lockUnlessHeld(paths: ProjectPaths): Database | undefined {
  try {
    return lockWriter(paths);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'already_running') return undefined;
    throw error;
  }
}

function storesOver({ secrets: known }: Place, reader: SqliteReader, writer: Writer): Stores {
  const secrets = new SecretRegistry();
  secrets.add(known);
  const core: Core = {
    runtimeId: newRuntimeId(),
    projectId: '' as ProjectId,
    clock: systemClock,
    writer,
    reader,
    log: SILENT,
    mask: (text) => secrets.mask(text),
    point: noFailpoint,
  };
  return {
    inbox: createInboxAdmin({ core, inbox: NOBODY, dispatcher: NOBODY, reopen: reopenRuns }),
    outbox: createOutboxAdmin({ core, sender: NOBODY }),
  };
}

const nothing = (): void => {};
/** Stands in for the runners, which this process does not have. */
const NOBODY = { release: nothing, returned: nothing, dropped: nothing, reread: nothing };
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const NO_WRITER: Writer = {
  commit: () => Promise.reject(new Error('this connection only reads')),
  onHead: () => nothing,
};
