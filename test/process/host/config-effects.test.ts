// Keys of svc.config.yml against what a real host does with them: the way from the file to the place that obeys.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { type HostOptions, startHost, type TestHost } from '../../../worker/testing/host.ts';
import { until } from '../../support/until.ts';

const WAIT_MS = 120_000;
const DEMO = 'demo-token-0123456789';
const CI = 'ci-token-0123456789ab';
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
const TOKENS = { demoToken: '${DEMO}', tokens: [{ name: 'ci', token: '${CI}', scope: 'full' }] };
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
const SDK = new URL('../../../dist/sdk/worker/sdk/index.js', import.meta.url).href;
const OWN = `import { definePlugin } from '${SDK}';
export default definePlugin({ name: 'own', setup(p) {
  p.command('secret', { summary: 'For operators', who: 'operator' }, () => 'the vault is open');
  p.command('open', { summary: 'For anyone' }, () => 'come in');
  p.command('fail', { summary: 'Fails' }, () => { throw new Error('no luck'); });
} });
`;

const host = (t: TestContext, config: Readonly<Record<string, unknown>>, rest: HostOptions = {}): Promise<TestHost> =>
  startHost({ owner: t, plugins: { sandbox: {} }, timeoutMs: WAIT_MS, ...rest, config });
const withOwn = { files: { 'own.mjs': OWN } };
const OWN_SLOT = { plugins: { own: { use: './own.mjs' } } };

const say = (on: TestHost, text: string, person = 'ann'): Promise<Response> =>
  on.request('/api/chat/say', { method: 'POST', json: { person, text, delivery: randomUUID() } });
async function answers(on: TestHost, person = 'ann'): Promise<readonly string[]> {
  const { messages } = (await (await on.request(`/api/chat/messages?person=${person}`)).json()) as {
    readonly messages: readonly { readonly from: string; readonly text: string }[];
  };
  return messages.filter(({ from }) => from === 'svc').map(({ text }) => text);
}

describe('a name that holds the text of a secret', () => {
  it('is masked wherever it is shown, and stands as it was written in the configuration', async (t) => {
    const environment = { DEMO, LABEL: DEMO };
    const config = { host: { name: 'bot ${LABEL}' }, http: { demoToken: '${DEMO}' } };
    const on = await host(t, config, { environment });
    const seen = async (path: string, token: string): Promise<string> => (await on.request(path, { token })).text();

    const status = JSON.parse(await seen('/api/system/status', DEMO)) as { readonly name: string };
    const shown = JSON.parse(await seen('/api/config', on.token)) as {
      readonly config: { readonly host: { readonly name: string } };
    };

    assert.deepEqual([status.name, shown.config.host.name], ['bot [secret]', 'bot ${LABEL}']);
    for (const path of ['/api/system/status', '/api/system/readiness', '/api/metrics', '/api/config'])
      assert.ok(!(await seen(path, on.token)).includes(DEMO), path);
  });

  it('is a fault of the configuration where it comes from the variable of the secret', async (t) => {
    const starting = host(
      t,
      { host: { name: 'bot ${DEMO}' }, http: { demoToken: '${DEMO}' } },
      { environment: { DEMO } },
    );

    await assert.rejects(starting, (error: Error) => {
      assert.match(error.message, /ended with 78/);
      assert.match(
        error.message,
        /svc\.config\.yml:1:\d+ host\.name takes DEMO, which is the secret of http\.demoToken.*give it a variable of its own/,
      );
      assert.ok(!error.message.includes(DEMO), error.message);
      return true;
    });
  });
});

describe('keys under http', () => {
  it('base, demoToken, tokens and corsOrigins decide what is where and for whom', async (t) => {
    const on = await host(
      t,
      { http: { ...TOKENS, base: '/bots/one', corsOrigins: ['https://ops.example'] }, host: { name: 'Named' } },
      { environment: { DEMO, CI } },
    );
    const root = on.url.replace('/bots/one', '');
    const status = async (path: string, token: string | null): Promise<number> =>
      (await on.request(path, { token })).status;

    assert.deepEqual(
      [(await fetch(`${root}/pub/health`)).status, await status('/pub/ready', null)],
      [200, 200],
      'probes at the root and below the base',
    );
    assert.equal((await fetch(`${root}/api/system/status`)).status, 404);
    assert.deepEqual(
      [await status('/api/system/readiness', CI), await status('/api/system/readiness', DEMO)],
      [200, 403],
    );
    const seen = await on.request('/api/system/status', { token: DEMO, headers: { origin: 'https://ops.example' } });
    assert.equal(((await seen.json()) as { readonly name: string }).name, 'Named');
    assert.equal(seen.headers.get('access-control-allow-origin'), 'https://ops.example');
    const stranger = await on.request('/api/system/status', { headers: { origin: 'https://other.example' } });
    assert.equal(stranger.headers.get('access-control-allow-origin'), null);
  });

  it('limits bound bodies and streams', async (t) => {
    const on = await host(t, { http: { limits: { bodyBytes: 2_048, streamsPerToken: 1 } } });
    const ends = new AbortController();
    t.after(() => ends.abort());

    assert.equal((await say(on, 'x'.repeat(100))).status, 202);
    assert.equal((await say(on, 'x'.repeat(3_000))).status, 413);
    const first = await on.request('/api/events', { signal: ends.signal });
    const second = await on.request('/api/events');
    assert.deepEqual([first.status, second.status], [200, 429]);
    assert.match(second.headers.get('retry-after') ?? '', /^\d+$/);
  });
});

describe('keys under commands', () => {
  it('prefix and operators decide what is a command and for whom', async (t) => {
    const operators = [{ endpoint: 'root/sandbox:sandbox', user: 'boss' }];
    const on = await host(t, { ...OWN_SLOT, commands: { prefix: '!', operators } }, withOwn);

    for (const [text, person] of [
      ['/open', 'ann'],
      ['!secret', 'ann'],
      ['!open', 'ann'],
      ['!secret', 'boss'],
    ] as const)
      await say(on, text, person);
    await until(async () => (await answers(on, 'boss')).length > 0 && (await answers(on)).includes('come in'), {
      what: 'the answers',
    });

    assert.deepEqual(await answers(on, 'boss'), ['the vault is open']);
    const ann = await answers(on);
    assert.equal(ann.filter((text) => text === 'come in').length, 1, 'the usual prefix is none');
    assert.ok(!ann.includes('the vault is open'));
  });
});

describe('keys under inbox', () => {
  it('maxPending and maxPendingBytes bound what waits: 503 with a time to come back, and room again afterwards', async (t) => {
    for (const [inbox, text, taken] of [
      [{ maxPending: 2 }, 'hello', 2],
      [{ maxPendingBytes: 65_536 }, 'x'.repeat(15_000), 4],
    ] as const) {
      const on = await host(t, { inbox });
      await on.request('/api/system/ingress', { method: 'PUT', json: { state: 'paused', mode: 'park' } });
      const codes: number[] = [];
      for (let count = 0; count <= taken; count += 1) codes.push((await say(on, text)).status);
      const refused = await say(on, text);
      await on.request('/api/system/ingress', { method: 'PUT', json: { state: 'open' } });

      assert.deepEqual(codes, [...Array(taken).fill(202), 503], JSON.stringify(inbox));
      assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
      await until(async () => (await say(on, text)).status === 202, { what: 'room' });
    }
  });

  it('maxAttempts is how often a line is tried before it is a dead letter', async (t) => {
    const on = await host(t, { ...OWN_SLOT, inbox: { maxAttempts: 1 } }, withOwn);
    await say(on, '/fail');

    const dead = await until(
      async () => {
        const { items } = (await (await on.request('/api/inbox?state=dead')).json()) as {
          readonly items: readonly { readonly attempts: number; readonly lastError: string }[];
        };
        return items[0];
      },
      { what: 'the dead letter' },
    );
    assert.equal(dead.attempts, 1);
    assert.match(dead.lastError, /no luck/);
  });
});

describe('log_level', () => {
  it('is obeyed at the start and taken in by a reload', async (t) => {
    const on = await host(t, { log_level: 'error' });
    const count = (): number => on.logs().filter(({ level }) => level === 'info').length;
    const before = on.logs().filter(({ msg }) => msg === 'generation committed').length;
    const file = `${on.project}/svc.config.yml`;
    writeFileSync(file, readFileSync(file, 'utf8').replace('"log_level":"error"', '"log_level":"info"'));
    const reloaded = await on.request('/api/system/reload', { method: 'POST', json: {} });

    assert.deepEqual([before, reloaded.status], [0, 200]);
    const atReload = count();
    await on.request('/api/system/reload', { method: 'POST', json: {} });
    await until(() => count() > atReload, { what: 'a line of level info' });
  });
});
