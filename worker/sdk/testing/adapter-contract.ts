// The suite that every adapter runs: `node:test` tests, one for each promise of an adapter that its fixtures can try.
import { test } from 'node:test';
import type { AdapterModule } from '../adapter.ts';
import { readAdapter } from '../definition.ts';
import { ACCOUNTS } from './contract/accounts.ts';
import { CONNECTIONS } from './contract/connections.ts';
import { DELIVERIES } from './contract/deliveries.ts';
import type { Fixtures } from './contract/fixtures.ts';
import { SENDS } from './contract/sends.ts';
import { onTrial } from './contract/trial.ts';

/** Registers the tests. */
export function adapterContract(adapter: AdapterModule, fixtures: Fixtures): void {
  const definition = readAdapter(adapter);
  const { name, webhook } = definition;
  if (webhook === undefined && fixtures.history === undefined)
    throw new Error(`${name} has no webhook: the suite needs fixtures.history, ids of what comes over its connection`);
  if (webhook !== undefined && fixtures.good === undefined && fixtures.history === undefined)
    throw new Error(`${name} has a webhook: the suite needs fixtures.good, a delivery with a good signature`);
  for (const promised of [...DELIVERIES, ...SENDS, ...CONNECTIONS, ...ACCOUNTS]) {
    if (!promised.applies(definition, fixtures)) continue;
    // The runner waits for what is registered.
    void test(`${name}: ${promised.title}`, (t) => onTrial(t, { adapter, fixtures }, promised));
  }
}
