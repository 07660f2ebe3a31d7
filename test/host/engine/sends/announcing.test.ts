// Commands told to a platform that does not take them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { accountFailed, defineAdapter, definePlugin } from '../../../../worker/sdk/index.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';
import { until } from '../../../support/until.ts';

const RELOADS = 20;
const RETRY_MS = 30_000;

it('commands that a platform does not take are told again once in a while, however many reloads there were', async (context) => {
  let told = 0;
  const adapter = defineAdapter({
    name: 'deaf',
    account: {},
    can: { text: { limit: 100, unit: 'utf16', render: 'plain' } },
    connect: (link) => {
      link.online();
      return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
    },
    announce: async () => {
      told += 1;
      throw new Error('not now');
    },
    send: async () => ({ kind: 'sent' }),
  });
  const plugin = definePlugin({
    name: 'x',
    setup: (p) => p.command('go', { summary: 'Goes' }, () => {}),
  });
  const host = await engineHost(context, { modules: { deaf: adapter, x: plugin } });
  for (let n = 0; n < RELOADS; n += 1) {
    await host.engine.runtime.reload('test');
    await host.advance(1_000);
  }
  const before = told;

  for (let n = 0; n < 3; n += 1) await host.advance(RETRY_MS + 1_000);

  assert.ok(before > 0, 'it was told at all');
  assert.equal(told - before, 3);
});

it('an account that the platform refuses when it is told the commands ends as failed, with the remedy', async (context) => {
  let told = 0;
  const adapter = defineAdapter({
    name: 'revoked',
    account: {},
    can: { text: { limit: 100, unit: 'utf16', render: 'plain' } },
    connect: (link) => {
      link.online();
      return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
    },
    announce: async () => {
      told += 1;
      throw accountFailed('the token is revoked', 'make another one');
    },
    send: async () => ({ kind: 'sent' }),
  });
  const plugin = definePlugin({ name: 'x', setup: (p) => p.command('go', { summary: 'Goes' }, () => {}) });
  const host = await engineHost(context, { modules: { revoked: adapter, x: plugin } });
  await until(() => told > 0, { what: 'the commands to be told' });
  for (let n = 0; n < 3; n += 1) await host.advance(RETRY_MS + 1_000);

  const account = host.engine.endpoints.all().find(({ spec }) => spec.slot === 'revoked');
  assert.equal(account?.state.state, 'failed');
  assert.equal(account.state.lastError?.remedy, 'make another one');
  assert.equal(told, 1);
});
