// Inbox and outbox for an operator while the host does not answer. Reads the database file; changes use the host's own statements, guards
// and events. Where and under which lock stands in stored-place.ts.
import { MOST_PAGE_ITEMS, MOST_REASON_CHARACTERS } from '../../shared/item-limits.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { isBeganAnew } from '../database/outside-writer.ts';
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
import { reopenRuns } from '../jobs/reopen-runs.ts';
import { createOutboxAdmin } from '../outbox/outbox-admin.ts';
import { findStored, reading, type StoredPlaceOptions, writing } from './stored-place.ts';

const CALLER: Caller = { scope: 'full', actor: 'offline', requestId: 'offline' };

const MOST_TRIES = 5;

type StoredItem = Readonly<Record<string, unknown>>;
type Stores = Readonly<Record<StoreName, ItemStore>>;

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
export function openStoredItems(options: StoredPlaceOptions): StoredItems | undefined {
  const place = findStored(options);
  if (place === undefined) return undefined;
  return {
    file: place.file,
    page: async (store, request) => {
      if (request.limit > MOST_PAGE_ITEMS) throw invalid(`a page has 1 to ${MOST_PAGE_ITEMS} items`);
      return reading(place, (core) => storesOver(core)[store].page({ ...request, texts: true }));
    },
    show: (store, id) => reading(place, async (core) => (await storesOver(core)[store].show(id, true)).item),
    change: async (store, id, { action, revision, reason = '', answer }) => {
      refuseLong(reason);
      const ask = (stores: Stores): Promise<StoredItem> => {
        const change = { caller: CALLER, revision };
        if (action === 'replay') return stores[store].replay(id, { ...change, answer });
        return stores[store][action](id, { ...change, reason });
      };
      return overStarts(() => writing(place, (core) => ask(storesOver(core))));
    },
    groups: (store, state) => reading(place, (core) => storesOver(core)[store].groups({ state, texts: true })),
    changeMany: async (store, selection, { action, reason = '', answer }) => {
      refuseLong(reason);
      const ask = (stores: Stores): Promise<BulkResult> =>
        action === 'replay'
          ? stores[store].replayMany(selection, { caller: CALLER, answer })
          : stores[store].dropMany(selection, { caller: CALLER, reason });
      return overStarts(() => writing(place, (core) => ask(storesOver(core))));
    },
  };
}

function refuseLong(reason: string): void {
  if (reason.length > MOST_REASON_CHARACTERS) throw invalid(`a reason has 1 to ${MOST_REASON_CHARACTERS} characters`);
}

const invalid = (message: string): SvcError => new SvcError('invalid_request', message);

/** Tries again when a host starts during the change, up to MOST_TRIES times. */
async function overStarts<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await write();
    } catch (error) {
      if (!isBeganAnew(error) || tries === MOST_TRIES) throw error;
    }
}

const storesOver = (core: Core): Stores => ({
  inbox: createInboxAdmin({ core, inbox: NOBODY, dispatcher: NOBODY, reopen: reopenRuns }),
  outbox: createOutboxAdmin({ core, sender: NOBODY }),
});

const nothing = (): void => {};
/** Stands in for the runners, which this process does not have. */
const NOBODY = { release: nothing, returned: nothing, dropped: nothing, reread: nothing };
