// Strangers without a token hold what they can get of a host. Meanwhile its probes answer, signed deliveries are stored and the operator is served,
// by the same worker.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { tooFewFiles } from '../../support/disk/open-files.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { type AttackOrder, startAttack } from '../../support/http/attack.ts';
import { openSse } from '../../support/http/sse-reader.ts';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const KEY = Buffer.alloc(32, 5);
const SECRET = `whsec_${KEY.toString('base64')}`;
const ENV = { HOOK_SECRET: SECRET };
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const PLUGINS = { sandbox: {}, webhook: { endpoints: [{ id: 'a', secrets: ['${HOOK_SECRET}'] }] } };
const PROBES = 20;
const DELIVERIES = 10;

interface Serving {
  readonly url: string;
  readonly token: string;
}

const portOf = (url: string): number => Number(new URL(url).port);

/** The status of the answer. */
async function deliver({ url }: Serving, id: string, text = 'hello'): Promise<number> {
  const body = JSON.stringify({ conversation: { id: 'room' }, user: { id: 'ann' }, text });
  const at = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', KEY).update(`${id}.${at}.${body}`).digest('base64');
  const { status } = await fetch(`${url}/webhooks/webhook/a`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
      connection: 'close',
    },
    body,
  });
  return status;
}

/** Probes, deliveries and the operator, each on connections of its own, one after the other. */
async function assertServes(host: Serving): Promise<void> {
  const { url, token } = host;
  const headers = { authorization: `Bearer ${token}`, connection: 'close' };
  const stored = await storedBy(host);
  for (let n = 0; n < PROBES; n += 1) {
    const probe = await fetch(`${url}/pub/${n % 2 === 0 ? 'health' : 'ready'}`, { headers: { connection: 'close' } });
    assert.equal(probe.status, 200, `probe ${n}`);
  }
  for (let n = 0; n < DELIVERIES; n += 1) assert.equal(await deliver(host, `${stored}-${n}`), 200, `delivery ${n}`);
  assert.equal((await fetch(`${url}/api/system/status`, { headers })).status, 200);
  assert.equal(await storedBy(host), stored + DELIVERIES);
}

async function storedBy({ url, token }: Serving): Promise<number> {
  const answer = await fetch(`${url}/api/inbox?limit=200`, {
    headers: { authorization: `Bearer ${token}`, connection: 'close' },
  });
  const { items } = (await answer.json()) as { readonly items: readonly unknown[] };
  return items.length;
}

const serving = ({ url, project: { token } }: RunningHost): Serving => ({ url: url.slice(0, -1), token });

async function attacked(
  t: TestContext,
  options: Omit<Parameters<typeof runningHost>[1], 'plugins'>,
  order: Omit<AttackOrder, 'port'>,
) {
  const host = await runningHost(t, { plugins: PLUGINS, env: ENV, ...options });
  const attack = await startAttack(t, { ...order, port: portOf(host.url) });
  return { host: serving(host), attack, output: host.output };
}

describe('a host that strangers attack', { concurrency: 3, timeout: 900_000 }, () => {
  it('with unread requests behind one another goes on: the same worker, no restart', async (t) => {
    const project = await portProject(t, { keys: { plugins: PLUGINS }, env: ENV });
    const run = (...words: string[]) => svc(['runtime', ...words], { cwd: project.path });
    const started = await run('start', '--daemon', '--json');
    assert.equal(started.code, 0, started.stderr);
    const attack = await startAttack(t, {
      kind: 'pipelined',
      port: project.port,
      connections: 60,
      bytes: 256 * 1024,
    });

    await assertServes(project);

    assert.ok(attack.counts().open > 0, 'the flood was over before');
    const status = JSON.parse((await run('status', '--json')).stdout);
    assert.equal(status.pid, JSON.parse(started.stdout).pid);
    assert.deepEqual(status.exits, []);
    await attack.stop();
    assert.equal((await run('stop')).code, 0);
  });

  it('with probes behind one another, and with wrong tokens, goes on', async (t) => {
    const { host, attack } = await attacked(
      t,
      {},
      { kind: 'pipelined', connections: 40, bytes: 128 * 1024, line: 'GET /pub/health' },
    );
    await assertServes(host);
    await startAttack(t, {
      kind: 'pipelined',
      port: portOf(host.url),
      connections: 40,
      bytes: 128 * 1024,
      headers: ['Authorization: Bearer 0123456789abcdef0123456789abcdef'],
    });
    await assertServes(host);
    assert.ok(attack.counts().open > 0);
  });

  it('with silent connections above its limit goes on', { skip: tooFewFiles(3_000) }, async (t) => {
    const { host, attack } = await attacked(
      t,
      { http: { limits: { connections: 1_024 } } },
      { kind: 'silent', connections: 1_400 },
    );
    await assertServes(host);
    assert.ok(attack.counts().made >= 1_400);
  });

  it('with more connections than it has file descriptors goes on, and its database and log with it', {
    skip: tooFewFiles(1_500),
  }, async (t) => {
    const { host, output } = await attacked(t, { files: 768 }, { kind: 'slow_bodies', connections: 700 });
    await assertServes(host);
    assert.doesNotMatch(output(), /EMFILE|too many files|"level":"(?:error|fatal)"/);
  });

  it('with bodies that do not end goes on, and a large delivery gets in as well', async (t) => {
    const { host, attack } = await attacked(t, {}, { kind: 'begun_bodies', connections: 90, bytes: 900_000 });
    await assertServes(host);
    const large = 'x'.repeat(200_000);
    let sent = 0;
    await until(async () => (await deliver(host, `large-${(sent += 1)}`, large)) === 200, { what: 'a large delivery' });
    assert.ok(attack.counts().open > 0);
  });

  it('with event streams that nobody reads goes on, and tells a reader of each delivery', async (t) => {
    const running = await runningHost(t, { plugins: PLUGINS, env: ENV });
    const host = serving(running);
    const attack = await startAttack(t, {
      kind: 'pipelined',
      port: portOf(host.url),
      connections: 60,
      bytes: 1,
      line: 'GET /api/events',
      headers: [`Authorization: Bearer ${host.token}`],
    });
    const reader = await openSse(`${host.url}/api/events`, { authorization: `Bearer ${host.token}` });
    await reader.waitFor('svc.live');
    await assertServes(host);
    await until(() => reader.events().filter(({ event }) => event === 'inbox.received').length === DELIVERIES, {
      what: 'an event for each delivery',
    });
    reader.close();
    assert.equal(attack.counts().open, 60);
  });
});
