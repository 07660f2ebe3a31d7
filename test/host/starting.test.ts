// The host in this process listens before it is up, and until its handlers are done.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { HTTP, type Running, starting } from '../support/hosts/app-host.ts';
import { type TemporaryProject, temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

/** What the plugin of a test waits for. */
interface Hold {
  isReached: boolean;
  release(): void;
}

/** A plugin whose module waits while it is loaded, and one whose command waits. */
const SLOW = `import { definePlugin, t } from 'svc';
const { hold } = globalThis.startTests[KEY];
await hold();
export default definePlugin({ name: 'slow', config: { word: t.optional(t.string()) }, setup() {} });
`;
const BUSY = `import { definePlugin } from 'svc';
const { hold } = globalThis.startTests[KEY];
export default definePlugin({ name: 'busy', setup(p) { p.command('wait', { summary: 'Waits' }, () => hold()); } });
`;

function holding(
  t: TestContext,
  source: string,
  keys: Readonly<Record<string, unknown>> = {},
): { readonly project: TemporaryProject; readonly hold: Hold } {
  const key = JSON.stringify(randomUUID());
  const hold: Hold = { isReached: false, release: () => {} };
  const held = new Promise<void>((resolve) => {
    hold.release = resolve;
  });
  const tests = ((globalThis as unknown as { startTests?: Record<string, unknown> }).startTests ??= {});
  tests[JSON.parse(key)] = {
    hold: () => {
      hold.isReached = true;
      return held;
    },
  };
  t.after(() => hold.release());
  const plugins = { sandbox: {}, echo: {}, own: { use: './plugins/own.mjs', ...keys } };
  const project = temporaryProject(t, {
    config: { http: HTTP, plugins },
    plugins: { 'own.mjs': source.replaceAll('KEY', key) },
  });
  return { project, hold };
}

const say = (host: Running, text: string) =>
  host.call('POST', '/api/chat/say', { person: 'ann', text, delivery: randomUUID() });

const probes = async (host: Running): Promise<readonly [number, number, unknown]> => [
  (await host.call('GET', '/pub/health')).status,
  (await host.call('GET', '/pub/ready')).status,
  (await host.call('GET', '/api/system/readiness')).json['state'],
];

describe('a host that starts', () => {
  it('answers probes and its report while a plugin loads, and handles later what came meanwhile', async (t) => {
    const { project, hold } = holding(t, SLOW);
    const host = starting(t, { project });
    await until(() => hold.isReached, { what: 'the plugin to load' });

    const told = await probes(host);
    let isAnswered = false;
    const said = say(host, '/echo hello').finally(() => (isAnswered = true));
    const status = host.call('GET', '/api/system/status');
    await probes(host);
    const early = isAnswered;
    hold.release();
    await host.app.up;

    assert.deepEqual(told, [200, 503, 'starting']);
    assert.equal(early, false);
    assert.equal((await said).status, 202);
    assert.equal((await status).json['state'], 'ready');
    assert.deepEqual(await probes(host), [200, 200, 'ready']);
    await until(async () => (await host.call('GET', '/api/inbox')).text.includes('"done"'), { what: 'the handler' });
  });

  it('answers those who wait when it cannot be up', async (t) => {
    const { project, hold } = holding(t, SLOW, { word: 7 });
    const host = starting(t, { project });
    await until(() => hold.isReached, { what: 'the plugin to load' });
    const said = say(host, 'hello');
    await probes(host);

    hold.release();

    await assert.rejects(host.app.up, { code: 'config_invalid' });
    assert.deepEqual([(await said).status, (await said).json['code']], [503, 'starting']);
  });

  it('that is told to stop meanwhile says so to those who wait', async (t) => {
    const { project, hold } = holding(t, SLOW);
    const host = starting(t, { project });
    await until(() => hold.isReached, { what: 'the plugin to load' });
    const said = say(host, 'hello');
    await probes(host);

    const stopped = host.app.stop(60_000);

    assert.deepEqual([(await said).status, (await said).json['code']], [503, 'draining']);
    assert.deepEqual(await probes(host), [200, 503, 'draining']);
    hold.release();
    assert.deepEqual(await stopped, { cut: [] });
  });
});

describe('a host that drains', () => {
  it('keeps its address until the handlers are done, and begins nothing', async (t) => {
    const { project, hold } = holding(t, BUSY);
    const host = starting(t, { project });
    await host.app.up;
    await say(host, '/wait');
    await until(() => hold.isReached, { what: 'the handler' });

    const stopped = host.app.stop(60_000);
    await until(async () => (await host.call('GET', '/pub/ready')).status === 503, { what: 'the drain' });
    const told = await probes(host);
    const refused = await say(host, 'hello');
    hold.release();
    const { cut } = await stopped;

    assert.deepEqual(told, [200, 503, 'draining']);
    assert.deepEqual([refused.status, refused.json['code']], [503, 'draining']);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal(refused.headers.get('connection'), 'close');
    assert.deepEqual(cut, []);
    await assert.rejects(host.call('GET', '/pub/health'));
  });
});
