import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Core } from '../../../worker/core/core.ts';
import type { EndpointRunner } from '../../../worker/endpoints/endpoint-runner.ts';
import type { Endpoints } from '../../../worker/endpoints/endpoints.ts';
import { createWebhookControl, type PublicAddress } from '../../../worker/ingress/webhook-addresses.ts';
import { accountFailed } from '../../../worker/sdk/index.ts';

const verify = () => ({ kind: 'ok' });
const ADAPTERS = {
  registers: { name: 'registers', webhook: { verify, register: () => Promise.resolve('done') } },
  manual: { name: 'manual', webhook: { verify } },
  polls: { name: 'polls', webhook: { verify, takes: () => false } },
  without: { name: 'without' },
} as const;

function control(address: PublicAddress, register: () => Promise<string> = () => Promise.resolve('done')) {
  const runners = Object.entries(ADAPTERS).map(([slot, adapter]) => ({
    spec: {
      id: `root/${slot}:${slot}~main`,
      name: `${slot}~main`,
      slot,
      account: slot === 'manual' ? undefined : 'main',
      adapter,
      values: {},
    },
    registerWebhook: register,
  })) as unknown as readonly EndpointRunner[];
  return createWebhookControl({
    core: { log: { info() {} } } as unknown as Core,
    endpoints: {
      get: (id: string) => runners.find(({ spec }) => spec.id === id),
      all: () => runners,
    } as unknown as Endpoints,
    generation: () => undefined,
    address: () => address,
  });
}
const HERE = { origin: 'https://bot.example', base: '/bots' };

describe('addresses of webhooks', () => {
  it('lists accounts that take webhooks, with and without an id of their own', () => {
    assert.deepEqual(control(HERE).list(), [
      {
        endpoint: 'root/registers:registers~main',
        path: '/bots/webhooks/registers/main',
        url: 'https://bot.example/bots/webhooks/registers/main',
        registers: true,
      },
      {
        endpoint: 'root/manual:manual~main',
        path: '/bots/webhooks/manual',
        url: 'https://bot.example/bots/webhooks/manual',
        registers: false,
      },
    ]);
    assert.deepEqual(
      control({ origin: undefined, base: '' })
        .list()
        .map(({ path, url }) => [path, url]),
      [
        ['/webhooks/registers/main', null],
        ['/webhooks/manual', null],
      ],
    );
  });

  it('registers by short name and whole id, and says why not', async () => {
    for (const id of ['registers~main', 'root/registers:registers~main'])
      assert.equal((await control(HERE).register(id)).done, 'done');
    await assert.rejects(control(HERE).register('register~mian'), {
      code: 'not_found',
      message: 'there is no endpoint of this name',
      hint: 'did you mean registers~main?',
    });
    await assert.rejects(control(HERE).register('other\n'), {
      message: 'there is no endpoint of this name',
      hint: 'known are registers~main, manual~main, polls~main, without~main',
    });
    await assert.rejects(control(HERE).register('polls~main'), { code: 'conflict', message: /takes no webhooks/ });
    await assert.rejects(control(HERE).register('manual~main'), { code: 'conflict', message: /no API/ });
    await assert.rejects(control({ origin: undefined, base: '' }).register('registers~main'), {
      code: 'conflict',
      hint: /http\.publicUrl/,
    });
  });

  it("passes on the platform's reason, and its remedy", async () => {
    const refusing = (error: Error) => control(HERE, () => Promise.reject(error)).register('registers~main');
    await assert.rejects(refusing(new Error('bad webhook: port')), { code: 'platform_refused', message: /port/ });
    await assert.rejects(refusing(accountFailed('wrong token', 'make a new one')), {
      code: 'platform_refused',
      hint: 'make a new one',
    });
  });
});
