// Deliveries that are verified and cannot be parsed: answered, kept as dead letters, and said in the log once a minute for each account.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Webhooks } from '../../../../worker/ingress/webhooks.ts';
import { defineAdapter, definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const WIRE = 'root/wire:wire';
const HOOK = 'root/shop#webhook/sold';

const wire = defineAdapter({
  name: 'wire',
  account: {},
  can: { text: { limit: 100, unit: 'utf16', render: 'plain' } },
  webhook: {
    verify: () => ({ kind: 'ok' }),
    parse: ({ body }) => {
      const read: unknown = JSON.parse(Buffer.from(body).toString());
      return Array.isArray(read) ? read : [];
    },
  },
  send: async () => ({ kind: 'sent' }),
});
const shop = definePlugin({
  name: 'shop',
  setup(p) {
    const spec = { verify: () => ({ kind: 'ok' as const }), delivery: () => undefined, body: t.object({}) };
    p.webhook('sold', spec, () => {});
  },
});

interface Delivering {
  readonly host: EngineHost;
  deliver(path: string, text: string): Promise<number>;
  said(): readonly (readonly [endpoint: unknown, unsaid: unknown])[];
}

async function delivering(context: TestContext): Promise<Delivering> {
  const host = await engineHost(context, { modules: { wire, shop }, config: { plugins: { wire: {} } } });
  const { core, engine } = host;
  const { endpoints, inbox, gate } = engine;
  const generation = () => engine.runtime.current;
  const webhooks = new Webhooks({
    core,
    endpoints,
    inbox,
    gate,
    generation,
    admit: () => {},
    observe: () => {},
    failed: () => {},
  });
  return {
    host,
    deliver: async (path, text) => {
      const request = { method: 'POST', path, query: {}, headers: {}, receivedAt: host.clock.now() };
      return (await webhooks.deliver({ ...request, body: Buffer.from(text) })).status;
    },
    said: () =>
      host.logs
        .filter(({ level, message }) => level === 'warn' && message.includes('cannot be parsed'))
        .map(({ fields }) => [fields['endpoint'], fields['unsaid']]),
  };
}

describe('a delivery that is verified and cannot be parsed', () => {
  it('is said in the log once a minute for each account and webhook, with the dead letter that it became', async (context) => {
    const { host, deliver, said } = await delivering(context);

    const statuses = [await deliver('wire', '{a'), await deliver('wire', '{b'), await deliver('shop/sold', '{c')];
    await host.advance(60_000);
    statuses.push(await deliver('wire', '{d'));

    assert.deepEqual(statuses, [200, 200, 202, 200]);
    assert.deepEqual(said(), [
      [WIRE, 0],
      [HOOK, 0],
      [WIRE, 1],
    ]);
    const [first] = host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq');
    assert.equal(host.logs.find(({ message }) => message.includes('cannot be parsed'))?.fields['item'], first?.id);
    assert.deepEqual(host.states('inbox'), ['dead', 'dead', 'dead', 'dead']);
  });

  it('is quoted neither in the log nor in an event: the item has it', async (context) => {
    const { host, deliver } = await delivering(context);

    await deliver('wire', 'what ann wrote');

    assert.match(host.rows<{ last_error: string }>('SELECT last_error FROM inbox')[0]?.last_error ?? '', /what ann/);
    assert.doesNotMatch(JSON.stringify([host.logs, host.events()]), /what ann/);
  });

  it('are those too of which the adapter makes no arrivals: the dead letter names adapter, field and shape', async (context) => {
    const { host, deliver } = await delivering(context);

    const status = await deliver(
      'wire',
      '[{"id":"1","kind":"message","sentAt":1,"conversation":{"id":"c","kind":"group"}}]',
    );

    const rows = host.rows<{ state: string; last_error: string }>('SELECT state, last_error FROM inbox');
    assert.equal(status, 200);
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['dead'],
    );
    assert.match(rows[0]?.last_error ?? '', /adapter wire: an arrival of kind message: user has to be \{ id: text/);
  });

  it('are refused where a connection hands them in, and nothing is stored', async (context) => {
    const host = await engineHost(context);

    await assert.rejects(
      host.platform.arrive({ id: '1', kind: 'massage' } as never),
      /adapter memory: an arrival: kind has to be one of/,
    );

    assert.deepEqual(host.states('inbox'), []);
  });
});
