// The suite that every adapter runs: `node:test` tests, one for each promise of an adapter. One that its fixtures cannot try is skipped, and says why.
import { test } from 'node:test';
import type { AdapterModule } from '../adapter.ts';
import { readAdapter } from '../definition.ts';
import { ACCOUNTS } from './contract/accounts.ts';
import { CHANGES } from './contract/changes.ts';
import { CONNECTIONS } from './contract/connections.ts';
import { DELIVERIES } from './contract/deliveries.ts';
import type { Fixtures } from './contract/fixtures.ts';
import { SENDS } from './contract/sends.ts';
import { onTrial } from './contract/trial.ts';
import { FIXTURES, refuseBadOptions } from './option-shapes.ts';

/** Registers the tests. */
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
  for (const promised of [...DELIVERIES, ...SENDS, ...CHANGES, ...CONNECTIONS, ...ACCOUNTS]) {
    if (promised.insteadOf !== undefined && promised.insteadOf(definition, fixtures) === undefined) continue;
    const title = `${name}: ${promised.title}`;
    const lack = promised.lack?.(definition, fixtures);
    // The runner waits for what is registered.
    if (lack !== undefined) void test(title, { skip: lack }, () => {});
    else
      void test(title, async (t) => {
        const part = promised.part?.(definition, fixtures);
        if (part !== undefined) t.diagnostic(`${title}: ${part}`);
        await onTrial(t, { adapter, fixtures }, promised);
      });
  }
}
