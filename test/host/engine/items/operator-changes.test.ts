// What an operator changes over HTTP, on the real store: the same answer under the same key, and revisions that never come back.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SecretRegistry } from '../../../../shared/log/redaction.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import { createEndpointControl } from '../../../../worker/endpoints/endpoint-control.ts';
import { createInboxAdmin } from '../../../../worker/inbox/inbox-admin.ts';
import { createIdempotency } from '../../../../worker/ingress/idempotency.ts';
import { readStoredFigures } from '../../../../worker/metrics/stored-figures.ts';
import { createOutboxAdmin } from '../../../../worker/outbox/outbox-admin.ts';
import { definePlugin, giveUp } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost, type HostOptions } from '../../../support/hosts/engine-host.ts';
import { type ServerUnderTest, startHttp } from '../../../support/http/http-server.ts';

const failing = definePlugin({
  name: 'failing',
  setup(p) {
    p.on('message', {}, (_ctx, { text }) => {
      if (text === 'die') throw giveUp('no');
      return 'said';
    });
  },
});

interface Operator {
  readonly host: EngineHost;
  readonly http: ServerUnderTest;
  ask(method: string, path: string, init?: { match?: string; key?: string; body?: object }): Promise<Response>;
}

async function operator(context: TestContext, config: NonNullable<HostOptions['config']> = {}): Promise<Operator> {
  const host = await engineHost(context, { modules: { failing }, config });
  const http = await startHttp(context);
  const { core, engine } = host;
  const { inbox, dispatcher, sender, gate } = engine;
  Object.assign(http.host, {
    idempotency: createIdempotency(core),
    inbox: createInboxAdmin({ core, inbox, dispatcher }),
    outbox: createOutboxAdmin({ core, sender }),
    endpoints: createEndpointControl(core, engine.endpoints),
    ingress: {
      state: () => gate.known(),
      set: (...[caller, change, asked]: Parameters<typeof http.host.ingress.set>) =>
        gate.set(change, caller.actor, asked),
    },
  });
  return {
    host,
    http,
    ask: (method, path, { match, key, body } = {}) =>
      http.fetch(path, {
        method,
        headers: {
          ...(match === undefined ? {} : { 'If-Match': match }),
          ...(key === undefined ? {} : { 'Idempotency-Key': key }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

describe('an opening of ingress', () => {
  it('is refused with what only a pause has, which would be dropped', async (context) => {
    const { host, ask } = await operator(context);
    const put = async (body: object) => (await ask('PUT', '/api/system/ingress', { body })).status;
    const until = new Date(host.clock.now() + 5_000).toISOString();
    await put({ state: 'paused' });

    const refused = [
      await put({ state: 'open', mode: 'reject' }),
      await put({ state: 'open', until }),
      await put({ state: 'open', reason: 'why' }),
    ];
    const still = host.engine.gate.state?.state;
    const taken = await put({ state: 'open', mode: 'park' }); // as an open one is read

    assert.deepEqual([refused, still], [[400, 400, 400], 'paused']);
    assert.deepEqual([taken, host.engine.gate.state?.state], [200, 'open']);
  });
});

describe('a change repeated under its Idempotency-Key', () => {
  it('has the whole of the first answer, its ETag too', async (context) => {
    const { ask } = await operator(context);
    const pause = () => ask('PUT', '/api/system/ingress', { key: 'p', body: { state: 'paused', reason: 'work' } });

    const [first, second] = [await pause(), await pause()];

    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    assert.match(first.headers.get('etag') ?? '', /^"/);
    assert.deepEqual(
      [second.status, second.headers.get('etag'), await second.text()],
      [first.status, first.headers.get('etag'), await first.text()],
    );
  });

  it('is not held to be under way for ever where its end could not be stored', async (context) => {
    const { host, http, ask } = await operator(context);
    const { core } = host;
    const commit: typeof core.writer.commit = async (unit) => {
      if (/finish|abandon/.test(unit.name)) throw new SvcError('storage_unavailable', 'the disk is full');
      return core.writer.commit(unit);
    };
    const writer = { commit, onHead: core.writer.onHead.bind(core.writer) };
    Object.assign(http.host, { idempotency: createIdempotency({ ...core, writer }) });
    const change = (match: string) => ask('PUT', '/api/system/ingress', { key: 'k', match, body: { state: 'paused' } });

    const [refused, made] = [await change('"other"'), await change('*')];

    assert.deepEqual([refused.status, made.status], [412, 200], 'each is told what became of it');
  });
});

describe('the revision of an item', () => {
  it('never comes back after a replay: an old If-Match is refused, although the item looks the same', async (context) => {
    const { host, ask } = await operator(context);
    host.platform.answer = () => ({ kind: 'refused', reason: 'dropped: says the platform' }); // which is no operator
    await host.platform.says('die');
    await host.platform.says('hello', { from: 'bob' });
    await host.quiet();

    assert.equal((await readStoredFigures(host.core, 'none'))?.outboxDead, 1);
    for (const store of ['inbox', 'outbox'] as const) {
      const id = host.rows<{ id: string }>(`SELECT id FROM ${store} WHERE state = 'dead'`)[0]?.id ?? '';
      const path = `/api/${store}/${id}`;
      const look = async () => {
        const answer = await ask('GET', path);
        const { state, attempts } = (await answer.json()) as { state: string; attempts: number };
        return { state, attempts, etag: answer.headers.get('etag') ?? '' };
      };
      const first = await look();
      assert.equal((await ask('POST', `${path}/replay`, { match: first.etag, body: {} })).status, 200, store);
      await host.quiet();
      const second = await look();

      const { etag: _first, ...before } = first;
      const { etag, ...after } = second;
      assert.deepEqual(after, before, store);
      const stale = await ask('POST', `${path}/drop`, { match: first.etag, body: { reason: 'old' } });
      assert.equal(stale.status, 412, store);
      assert.equal((await ask('POST', `${path}/drop`, { match: etag, body: { reason: 'new' } })).status, 200, store);
      const dropped = await ask('POST', `${path}/drop`, { match: etag, body: { reason: 'again' } });
      assert.equal(dropped.status, 412, store);
      const blind = await ask('POST', `${path}/drop`, { body: { reason: 'again' } });
      assert.equal(blind.status, 409, store);
      assert.equal(host.events(`${store}.dropped`).length, 1, store);
    }
    assert.equal((await readStoredFigures(host.core, 'none'))?.outboxDead, 0);
  });

  it('lets one of the changes through that come together with it; the others are too late', async (context) => {
    const { host, ask } = await operator(context);
    host.platform.answer = () => ({ kind: 'refused', reason: 'gone' });
    await host.platform.says('die');
    await host.platform.says('hello', { from: 'bob' });
    await host.quiet();

    for (const store of ['inbox', 'outbox'] as const) {
      const id = host.rows<{ id: string }>(`SELECT id FROM ${store} WHERE state = 'dead'`)[0]?.id ?? '';
      const match = (await ask('GET', `/api/${store}/${id}`)).headers.get('etag') ?? '';

      const answers = await Promise.all([
        ask('POST', `/api/${store}/${id}/replay`, { match, body: {} }),
        ask('POST', `/api/${store}/${id}/replay`, { match, body: {} }),
        ask('POST', `/api/${store}/${id}/drop`, { match, body: { reason: 'no' } }),
        ask('POST', `/api/${store}/${id}/drop`, { match, body: { reason: 'no' } }),
      ]);

      const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
      assert.deepEqual(statuses, [200, 412, 412, 412], store);
      await host.quiet();
    }
  });
});

describe('what an operator writes', () => {
  it('is stored and shown without a secret that it quotes, wherever it is written', async (context) => {
    const { host, ask } = await operator(context);
    const secrets = new SecretRegistry();
    secrets.add(['hook-secret-1']);
    Object.assign(host.core, { mask: (text: string) => secrets.mask(text) });
    host.platform.answer = () => ({ kind: 'refused', reason: 'gone' });
    await host.platform.says('die');
    await host.platform.says('hello', { from: 'bob' });
    await host.quiet();
    const body = { reason: 'was hook-secret-1 before' };
    const shown = [await (await ask('PUT', '/api/system/ingress', { body: { state: 'paused', ...body } })).text()];
    for (const store of ['inbox', 'outbox'] as const) {
      const id = host.rows<{ id: string }>(`SELECT id FROM ${store} WHERE state = 'dead'`)[0]?.id ?? '';
      shown.push(await (await ask('POST', `/api/${store}/${id}/drop`, { body })).text());
    }
    for (const type of ['ingress.paused', 'inbox.dropped', 'outbox.dropped'])
      shown.push(JSON.stringify(host.events(type)));

    for (const text of shown) {
      assert.match(text, /was \[secret\] before/);
      assert.doesNotMatch(text, /hook-secret-1/);
    }
  });
});

describe('the list of accounts', () => {
  it('comes page by page, each account once, whatever comes and goes between two pages', async (context) => {
    const ids = ['e', 'd', 'c', 'b', 'a'].map((id) => ({ id }));
    const { host, ask } = await operator(context, { plugins: { memory: { endpoints: ids } } });
    const page = async (query: string) => {
      const answer = await ask('GET', `/api/endpoints${query}`);
      const body = (await answer.json()) as {
        readonly endpoints?: readonly { readonly name: string }[];
        readonly next?: string;
        readonly total?: number;
      };
      return { ...body, status: answer.status, names: body.endpoints?.map(({ name }) => name.slice(-1)).join('') };
    };

    const first = await page('?limit=2');
    host.configure({ plugins: { memory: { endpoints: ids.slice(0, 3).concat({ id: 'aa' }) } } });
    await host.engine.runtime.reload('test');
    await host.quiet();
    const second = await page(`?limit=2&after=${encodeURIComponent(first.next ?? '')}`);
    const third = await page(`?limit=2&after=${encodeURIComponent(second.next ?? '')}`);

    assert.deepEqual([first.names, first.total], ['ab', 5]);
    assert.deepEqual([second.names, second.total], ['cd', 4]);
    assert.deepEqual([third.names, third.next], ['e', undefined]);
    assert.equal((await page('')).names, 'acde');
    assert.deepEqual([(await page('?limit=0')).status, (await page('?limit=201')).status], [400, 400]);
  });

  it('says of each what the configuration wants, what an operator said, and what counts', async (context) => {
    const off = { id: 'off', enabled: false };
    const { ask } = await operator(context, { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }, off] } } });
    const answer = await (await ask('POST', '/api/endpoints/memory~off/enable')).json();
    await ask('POST', '/api/endpoints/memory~a/disable');

    const { endpoints } = (await (await ask('GET', '/api/endpoints')).json()) as {
      readonly endpoints: readonly Readonly<Record<string, unknown>>[];
    };
    const facts = (of: unknown) => {
      const { name, configured, override, enabled } = of as Readonly<Record<string, unknown>>;
      return { name, configured, override, enabled };
    };

    assert.deepEqual(endpoints.map(facts), [
      { name: 'memory~a', configured: true, override: false, enabled: false },
      { name: 'memory~b', configured: true, override: null, enabled: true },
      { name: 'memory~off', configured: false, override: true, enabled: true },
    ]);
    assert.deepEqual(facts(answer), facts(endpoints[2]), 'the answer to the word says the same');
  });
});

describe('the revision of an account', () => {
  it('lets one of the changes through that come together with it; the others are too late', async (context) => {
    const { ask } = await operator(context);
    const path = '/api/endpoints/memory~a';
    const match = (await ask('GET', path)).headers.get('etag') ?? '';

    const answers = await Promise.all([1, 2, 3].map(() => ask('POST', `${path}/disable`, { match })));

    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 412, 412],
    );
  });

  it('keeps none of the changes back that come together and name none; the last one holds', async (context) => {
    const { host, ask } = await operator(context, { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } });
    const changes = [
      ['a', 'disable'],
      ['b', 'disable'],
      ['a', 'enable'],
      ['a', 'disable'],
      ['b', 'disable'],
    ] as const;

    const answers = await Promise.all(
      changes.map(([id, verb], at) => ask('POST', `/api/endpoints/memory~${id}/${verb}`, { key: `k${at}` })),
    );

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    assert.equal(host.events('endpoint.disabled').length + host.events('endpoint.enabled').length, 5);
    assert.deepEqual(host.rows('SELECT endpoint, revision FROM endpoints ORDER BY endpoint'), [
      { endpoint: 'root/memory:memory~a', revision: 3 },
      { endpoint: 'root/memory:memory~b', revision: 2 },
    ]);
    const stored = host.rows<{ enabled: number }>('SELECT enabled FROM endpoints ORDER BY endpoint');
    const held = ['a', 'b'].map((id) => host.engine.endpoints.override(`root/memory:memory~${id}`).enabled);
    assert.deepEqual(
      held,
      stored.map(({ enabled }) => enabled === 1),
    );
  });
});

describe('an item that dies while an operator drops it', () => {
  it('is released once', async (t) => {
    let fail = (): void => {};
    const held = definePlugin({
      name: 'held',
      setup(p) {
        p.on('message', { attempts: 1 }, async (_ctx, { text }) => {
          if (text === 'mine') await new Promise((_, reject) => (fail = () => reject(new Error('no'))));
          else await new Promise(() => {});
        });
      },
    });
    const host = await engineHost(t, { modules: { held } });
    for (const text of ['mine', 'next']) await host.platform.says(text);
    await host.quiet();
    const { core, engine } = host;
    const admin = createInboxAdmin({ core, inbox: engine.inbox, dispatcher: engine.dispatcher });
    const id = host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq')[0]?.id ?? '';
    const { writer } = core;
    const commit = writer.commit.bind(writer);
    writer.commit = async (unit) => {
      if (unit.name === 'inbox.drop' && host.states('inbox')[0] === 'handling') {
        fail();
        await host.quiet();
      }
      return commit(unit);
    };

    await admin.drop(id, { caller: { actor: 'test', scope: 'full' } as never, revision: undefined, reason: 'test' });

    assert.deepEqual(host.states('inbox'), ['done', 'handling']);
    assert.equal(engine.inbox.pending.items, 1);
  });
});
