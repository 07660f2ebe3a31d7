// Source of inbox and outbox for a command: the running host over HTTP or, if it does not answer, the project's database.
//
//   ITEM-SOURCE-1  A host that answers is always used. Without a database the command waits for the host.
//   ITEM-SOURCE-2  The host may still execute a change after a timeout. Both the request and a change in the database name the item's revision.
//                  So only one of the two succeeds.
import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { callControl } from '../../../shared/control/control-client.ts';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { queryOf } from '../options.ts';
import { openStoredItems } from '../start/worker-entry.ts';
import { findRunning } from './control-client.ts';

export type StoreName = 'inbox' | 'outbox';
export type Item = Readonly<Record<string, unknown>>;
export interface Page {
  readonly items: readonly Item[];
  readonly next?: string;
  readonly total: number;
}

export interface PageRequest {
  readonly state: string | undefined;
  readonly endpoint: string | undefined;
  readonly limit: number | undefined;
  readonly after: string | undefined;
}

export type ItemChange =
  | { readonly action: 'replay'; readonly answer: 'again' | 'done' | undefined }
  | { readonly action: 'hold' | 'drop'; readonly reason: string };

/** A state in which items wait for an operator. */
export type LostState = 'dead' | 'unknown';

export interface CauseGroup {
  readonly endpoint: string;
  readonly handler: string | null;
  readonly code: string;
  readonly count: number;
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly item: string | null;
}

export interface CauseGroups {
  readonly groups: readonly CauseGroup[];
  readonly looked: number;
  /** The host's time. */
  readonly asOf: string;
}

export interface Selection {
  readonly state: LostState;
  readonly endpoint: string | undefined;
  readonly handler: string | undefined;
  readonly code: string | undefined;
  readonly since: string | undefined;
  readonly upTo: string;
  readonly after: string | undefined;
}

export type ManyChange =
  | { readonly action: 'replay'; readonly answer: 'again' | 'done' | undefined }
  | { readonly action: 'drop'; readonly reason: string };

export interface BulkResult {
  readonly done: number;
  readonly left: number;
  readonly skipped: number;
  readonly next?: string;
}

export interface ItemSource {
  page(request: PageRequest): Promise<Page>;
  show(id: string): Promise<Item>;
  /** Reads the item first, so that the change applies to this revision only. */
  change(id: string, change: ItemChange): Promise<Item>;
  groups(state: LostState): Promise<CauseGroups>;
  /** Changes one page of the selection. */
  changeMany(selection: Selection, change: ManyChange): Promise<BulkResult>;
}

/** A healthy host has answered long before. */
const SILENCE_MS = 3_000;
const WELL_MS = 1_000;
/** The host's page size. */
const PAGE_ITEMS = 50;

type Context = Pick<CommandContext, 'host' | 'print' | 'project' | 'env'>;

/** Runs `ask` on the host, or on the database if the host is silent. */
export async function askItems<T>(
  context: Context,
  store: StoreName,
  ask: (source: ItemSource) => Promise<T>,
): Promise<T> {
  const host = new HostItems(context, store);
  const over = new AbortController();
  const answer = ask(host);
  try {
    const end = await Promise.race([answer, pause(SILENCE_MS, SILENT, { signal: over.signal })]);
    if (end !== SILENT) return end;
    if (await isWorkerWell()) return await answer;
  } catch (error) {
    if (!(await isSilence(error, context))) throw error;
  } finally {
    over.abort();
  }
  const file = await fileItems(context, { store, revision: () => host.revision });
  if (file === undefined) return answer;
  host.giveUp();
  answer.catch(() => {}); // ends by the abort above
  return ask(file);
}

const SILENT = Symbol('silent');

/** The host is slow, but its event loop runs. Asked over the worker's socket, since the supervisor accepts connections no worker reads. */
const isWorkerWell = (): Promise<boolean> =>
  callControl(WORKER_SOCKET, 'status', { timeoutMs: WELL_MS }).then(
    (status) => (status as RuntimeStatus).state === 'running',
    () => false,
  );

/** True if no process runs, the host does not answer, or a configuration fault prevents it from running. */
async function isSilence(error: unknown, { project }: Context): Promise<boolean> {
  if (!(error instanceof SvcError)) return false;
  if (error.code === 'config_invalid' || error.code === 'secret_invalid')
    return (await findRunning(project()).catch(() => undefined)) === undefined;
  return error.code === 'not_running' || error.code === 'timeout';
}

class HostItems implements ItemSource {
  readonly #context: Context;
  readonly #store: StoreName;
  readonly #end = new AbortController();
  /** ETag of the item that a change is meant for. */
  revision: string | undefined;

  constructor(context: Context, store: StoreName) {
    this.#context = context;
    this.#store = store;
  }

  giveUp(): void {
    this.#end.abort();
  }

  async page(request: PageRequest): Promise<Page> {
    return (await this.#request('GET', `/api/${this.#store}${queryOf({ ...request })}`)).body as Page;
  }

  async show(id: string): Promise<Item> {
    return (await this.#request('GET', this.#pathOf(id))).body as Item;
  }

  async change(id: string, { action, ...said }: ItemChange): Promise<Item> {
    const path = this.#pathOf(id);
    const tag = (await this.#request('GET', path)).headers.get('etag');
    this.revision = tag ?? undefined;
    const body = given(said);
    const headers = tag === null ? {} : { headers: { 'If-Match': tag } };
    return (await this.#request('POST', `${path}/${action}`, { body, idempotencyKey: randomUUID(), ...headers }))
      .body as Item;
  }

  async groups(state: LostState): Promise<CauseGroups> {
    return (await this.#request('GET', `/api/${this.#store}/groups${queryOf({ state })}`)).body as CauseGroups;
  }

  async changeMany(selection: Selection, { action, ...said }: ManyChange): Promise<BulkResult> {
    const body = given({ ...selection, ...said });
    const path = `/api/${this.#store}/${action}`;
    return (await this.#request('POST', path, { body, idempotencyKey: randomUUID() })).body as BulkResult;
  }

  async #request(method: string, path: string, options: object = {}) {
    const client = await this.#context.host();
    this.#end.signal.throwIfAborted();
    return client.request(method, path, { ...options, signal: this.#end.signal });
  }

  #pathOf(id: string): string {
    return `/api/${this.#store}/${encodeURIComponent(id)}`;
  }
}

const given = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Undefined if there is no database file yet. */
async function fileItems(
  { project: find, env: environment, print }: Context,
  { store, revision }: { readonly store: StoreName; readonly revision: () => string | undefined },
): Promise<ItemSource | undefined> {
  const project = find();
  const items = await openStoredItems({ project, environment });
  if (items === undefined) return undefined;
  print.note(`the host does not answer: using ${relative(project, items.file)}`);
  return {
    page: ({ limit = PAGE_ITEMS, ...request }) => items.page(store, { limit, ...request }),
    show: (id) => items.show(store, id),
    change: (id, change) => items.change(store, id, { ...change, revision: ofTag(revision()) }),
    groups: (state) => items.groups(store, state),
    changeMany: (selection, change) => items.changeMany(store, selection, change),
  };
}

/** Removes the quotes of an ETag. */
const ofTag = (tag: string | undefined): string | undefined => tag?.replace(/^(?:W\/)?"|"$/g, '');
