// The test suite for adapters: one `node:test` test for each promise. A promise that the fixtures cannot try is skipped, with the reason.
import { test } from 'node:test';
import type { AdapterModule } from '../../sdk/adapter.ts';
import { readAdapter } from '../../sdk/definition.ts';
import { FIXTURES, refuseBadOptions } from '../option-shapes.ts';
import { ACCOUNTS } from './accounts.ts';
import { CHANGES } from './changes.ts';
import { CONNECTIONS } from './connections.ts';
import { DELIVERIES } from './deliveries.ts';
import type { Fixtures } from './fixtures.ts';
import type { Definition, Lack, Missing } from './lack.ts';
import { SENDS } from './sends.ts';
import { isSilence } from './silence.ts';
import { STORAGE } from './storage.ts';
import { onTrial, type Promised } from './trial.ts';

/** Registers the tests of the suite. Throws if the fixtures are incomplete or have unknown keys. */
export function adapterContract(adapter: AdapterModule, fixtures: Fixtures): void {
  const definition = readAdapter(adapter);
  const { name, webhook } = definition;
  refuseBadOptions(`${name}: fixtures`, fixtures, FIXTURES);
  if (webhook === undefined && fixtures.history === undefined)
    throw new Error(`${name} has no webhook: the suite needs fixtures.history, ids of what comes over its connection`);
  if (webhook !== undefined && fixtures.good === undefined && fixtures.history === undefined)
    throw new Error(`${name} has a webhook: the suite needs fixtures.good, a delivery with a good signature`);
  if (fixtures.history?.length === 1)
    throw new Error(`${name}: fixtures.history names one message: in what order they come shows in two or more`);
  const plans = planOf(definition, fixtures);
  refuseWhatIsOpen(plans, { name, fixtures });
  let silent: string | undefined;
  for (const { promised, missing } of plans) {
    const title = `${name}: ${promised.title}`;
    // The test runner waits for registered tests, so their promises are not awaited.
    if (missing !== undefined) void test(title, { skip: reasonOf(missing, fixtures) }, () => {});
    else
      void test(title, async (t) => {
        if (silent !== undefined) return t.skip(`not tried, because the suite waited in vain: ${silent}`);
        const part = promised.part?.(definition, fixtures);
        if (part !== undefined) t.diagnostic(`${title}: ${reasonOf(part, fixtures)}`);
        try {
          await onTrial(t, { adapter, fixtures }, promised);
        } catch (error) {
          if (isSilence(error)) silent = promised.title;
          throw error;
        }
      });
  }
}

interface Plan {
  readonly promised: Promised;
  readonly missing: Missing | undefined;
}

function planOf(definition: Definition, fixtures: Fixtures): readonly Plan[] {
  const lackOf = (lack: Lack | undefined): Missing | undefined => lack?.(definition, fixtures);
  const all = [...DELIVERIES, ...SENDS, ...CHANGES, ...CONNECTIONS, ...STORAGE, ...ACCOUNTS];
  return all
    .filter(
      ({ unless, insteadOf }) =>
        lackOf(unless) === undefined && (insteadOf === undefined || lackOf(insteadOf) !== undefined),
    )
    .map((promised) => ({ promised, missing: lackOf(promised.lack) }));
}

const reasonOf = ({ of, reason }: Missing, { without }: Fixtures): string =>
  (of === undefined ? undefined : without?.[of]) ?? reason;

/** If `without` is given, every skipped promise needs a reason there, and every reason there must be used. */
function refuseWhatIsOpen(
  plans: readonly Plan[],
  { name, fixtures }: { readonly name: string; readonly fixtures: Fixtures },
): void {
  const { without } = fixtures;
  if (without === undefined) return;
  const missing = plans.flatMap(({ missing: of }) => (of === undefined ? [] : [of]));
  const open = missing.find(({ of }) => of !== undefined && without[of] === undefined);
  if (open !== undefined)
    throw new Error(`${name}: ${open.reason}: fixtures.without.${open.of} may say why the platform has no such thing`);
  const used = new Set<string | undefined>(missing.map(({ of }) => of));
  const idle = Object.keys(without).find((of) => !used.has(of));
  if (idle !== undefined)
    throw new Error(`${name}: fixtures.without.${idle} gives a reason, and nothing is left out for it`);
}
