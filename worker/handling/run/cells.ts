// State as handlers see it. Cells are read with their revision and written under a guard on the revision that the run has read.

import type { Core } from '../../core/core.ts';
import type { Reader } from '../../database/unit.ts';
import type { Cell } from '../../sdk/index.ts';
import { check } from '../../sdk/schema/check.ts';
import { readCell } from '../handling-store.ts';
import type { Capability, StateDefinition } from '../plan/capabilities.ts';
import type { GenerationView } from '../plan/generation-view.ts';
import { type Cause, coded } from './cause.ts';
import { listCells } from './listed-cells.ts';
import { type CellGuard, type CellId, cellKey, type Effect, type Run } from './run.ts';

export interface CellContext {
  get(cell: Cell<unknown>): Promise<unknown>;
  list(
    state: Cell<unknown>,
    page?: { prefix?: string; after?: string; limit?: number },
  ): Promise<readonly (readonly [string, unknown])[]>;
  set(cell: Cell<unknown>, value: unknown, expect?: 'absent' | 'any' | number): void;
  unset(cell: Cell<unknown>): void;
}
interface CellDeps {
  readonly core: Core;
  readonly generation: GenerationView;
  readonly capability: Capability;
  readonly cause: Cause;
  readonly run: Run;
  readonly open: () => void;
  readonly effect: (one: Effect) => void;
}

const LARGEST_VALUE_BYTES = 1_048_576;
const LONGEST_PAGE = 1_000;

export function cellContext({ core, generation, capability, cause, run, open, effect }: CellDeps): CellContext {
  const definition = (cell: Cell<unknown>): StateDefinition => {
    const found = generation.capabilities.state(cell.store);
    if (found === undefined)
      throw coded('no_state', `${capability.id}: ${cell.store} is not a state of this generation`);
    return found;
  };
  const address = (cell: Cell<unknown>): CellId => {
    if (typeof cell.key !== 'string')
      throw coded('no_key', `${capability.id}: ${cell.store}: the key of a value has to be a text`);
    return { store: cell.store, owner: ownerOfCell({ ...definition(cell), generation, cell }, cause), key: cell.key };
  };
  return {
    async get(cell) {
      open();
      const id = address(cell);
      const written = run.written.get(cellKey(id));
      if (written !== undefined) return valueOf(definition(cell), written);
      if (run.written.has(cellKey(id))) return undefined;
      const row = await readCell(core.reader, id);
      run.sees(id, row?.revision ?? 0);
      return row === undefined ? undefined : valueOf(definition(cell), row.value);
    },
    async list(state, { prefix = '', after, limit = 100 } = {}) {
      open();
      if (!isPage(prefix, after, limit))
        throw coded(
          'no_page',
          `${capability.id}: list: prefix and after have to be texts, limit a whole number from 0`,
        );
      const { store, owner } = address(state);
      const page = { store, owner, prefix, after, limit: Math.min(limit, LONGEST_PAGE) };
      const rows = await listCells(core.reader, page, run);
      return rows.map((row) => [row.key, valueOf(definition(state), row.value)] as const);
    },
    set(cell, value, expect) {
      const id = address(cell);
      const stored = JSON.stringify(checked(definition(cell), value));
      if (Buffer.byteLength(stored) > LARGEST_VALUE_BYTES)
        throw coded('value_too_large', `${cell.store}: a value may have ${LARGEST_VALUE_BYTES} bytes as JSON`);
      effect({ kind: 'cell', cell: id, value: stored, expect: guardOf(run, id, expect) });
      run.written.set(cellKey(id), stored);
    },
    unset(cell) {
      const id = address(cell);
      const revision = run.read.get(cellKey(id));
      effect({
        kind: 'cell',
        cell: id,
        value: undefined,
        expect:
          revision === undefined || run.written.has(cellKey(id)) ? { kind: 'any' } : { kind: 'revision', revision },
      });
      run.written.set(cellKey(id), undefined);
    },
  };
}

/** The first write guards the cell until the commit, so later writes of the run need no guard. */
function guardOf(run: Run, id: CellId, expect: 'absent' | 'any' | number | undefined): CellGuard {
  if (!isExpectation(expect))
    throw coded('no_expectation', `${id.store}: expect has to be 'absent', 'any' or a revision, a whole number from 0`);
  if (run.written.has(cellKey(id)) || expect === 'any') return { kind: 'any' };
  const read = run.read.get(cellKey(id));
  const revision = expect === 'absent' ? 0 : (expect ?? read);
  if (revision === undefined)
    throw coded(
      'unread',
      `${id.store}: read it first with ctx.get, or say what you expect: ctx.set(cell, value, 'any')`,
    );
  const known = read ?? run.found.get(cellKey(id));
  if (expect !== undefined && known !== undefined && known !== revision)
    throw coded('cell_is', `${id.store}, key ${JSON.stringify(id.key)}: ${faultOf(known, revision)}`);
  return { kind: 'revision', revision };
}

function faultOf(known: number, expected: number): string {
  if (known === 0) return `is absent, and was expected at revision ${expected}`;
  return expected === 0 ? 'is there already, and was expected to be absent' : `is at another revision than ${expected}`;
}

/**
 * Current revisions of cells for which the run named an expectation without reading them. A second run would expect the same, so `set` throws this
 * time and the handler can react.
 */
export async function findExpected(reader: Reader, { effects, read }: Run): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const effect of effects) {
    if (effect.kind !== 'cell' || effect.expect.kind !== 'revision' || read.has(cellKey(effect.cell))) continue;
    found.set(cellKey(effect.cell), (await readCell(reader, effect.cell))?.revision ?? 0);
  }
  return found;
}

const isExpectation = (expect: unknown): boolean =>
  expect === undefined ||
  expect === 'absent' ||
  expect === 'any' ||
  (Number.isSafeInteger(expect) && Number(expect) >= 0);

const isPage = (prefix: unknown, after: unknown, limit: unknown): boolean =>
  typeof prefix === 'string' &&
  (after === undefined || typeof after === 'string') &&
  Number.isInteger(limit) &&
  Number(limit) >= 0;

interface CellOf extends StateDefinition {
  readonly generation: GenerationView;
  readonly cell: Cell<unknown>;
}

/** The owner may name an account by its short name, as in the configuration. */
function ownerOfCell({ scope, id, generation, cell }: CellOf, { chat }: Cause): string {
  if (scope === 'plugin') return '';
  const owner = cell.owner ?? (chat && (scope === 'conversation' ? chat.conversation : chat.user));
  if (owner === undefined) throw coded('no_owner', `${id} is kept per ${scope}: name one with .of(…) here`);
  if (typeof owner.endpoint !== 'string' || typeof owner.id !== 'string')
    throw coded('no_owner', `${id}: .of(…) has to get a conversation or a user: { endpoint, id }`);
  return `${generation.endpoint(owner.endpoint)}/${owner.id}`;
}

function valueOf(definition: StateDefinition, text: string): unknown {
  const stored: unknown = JSON.parse(text);
  const result = check(definition.value, stored);
  if (result.ok) return result.value;
  if (definition.upgrade === undefined)
    throw coded(
      'state_mismatch',
      `${definition.id}: stored value does not fit (${result.faults.join('; ')}) and there is no upgrade`,
    );
  return checked(definition, definition.upgrade(stored));
}

function checked(definition: StateDefinition, value: unknown): unknown {
  const result = check(definition.value, value);
  if (!result.ok) throw coded('schema_mismatch', `${definition.id}: ${result.faults.join('; ')}`);
  return result.value;
}
