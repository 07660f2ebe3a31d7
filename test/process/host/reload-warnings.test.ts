// A reload commits also where an account cannot work, as a start does: what `svc config check` says of it is in the answer.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const FOREGROUND = ['runtime', 'start', '--mode', 'production', '--no-watch'];
const BAD = '\n  telegram:\n    endpoints: [{ id: news, token: "${NEWS_TOKEN}" }]\n';
const QUOTING = `import { defineAdapter, t } from 'svc';
export default defineAdapter({ name: 'quoting', account: { secret: t.secret() },
  can: { text: { limit: 99, unit: 'bytes', render: 'plain' } }, send: async () => ({ kind: 'sent' }),
  fault: ({ secret }) => ({ reason: 'not taken: ' + secret.reveal(), remedy: 'write another one' }) });
`;
const WARNING =
  /^svc\.config\.yml:\d+:\d+ plugins\.telegram\.endpoints\[0\] cannot work: token is not one of a bot[^\n]+$/;

for (const owner of ['daemon', 'foreground'] as const)
  it(`tells of accounts of the new generation that cannot work, and is done (${owner})`, async (t) => {
    const { url, path, paths, token } = await portProject(t, { keys: { plugins: { sandbox: {} } } });
    if (owner === 'daemon') assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    else startSvc(FOREGROUND, { cwd: path });
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the host to be ready' });
    const good = await svc(['runtime', 'reload', '--json'], { cwd: path });
    assert.deepEqual([good.code, JSON.parse(good.stdout).warnings], [0, []]);
    writeFileSync(paths.env, `${readFileSync(paths.env, 'utf8')}NEWS_TOKEN=not-a-token\n`);
    const config = `${path}/svc.config.yml`;
    writeFileSync(config, `${readFileSync(config, 'utf8').trimEnd()}${BAD}`);

    const { code, stdout, stderr } = await svc(['runtime', 'reload', '--json'], { cwd: path });
    const text = await svc(['runtime', 'reload'], { cwd: path });
    const post = async (): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'one' };
      return (await fetch(`${url}/api/system/reload`, { method: 'POST', headers })).json();
    };
    const [answered, kept] = [await post(), await post()];

    assert.equal(code, 0, stderr);
    const { reloaded, generation, warnings } = JSON.parse(stdout);
    assert.deepEqual([reloaded, warnings.length], [true, 1]);
    assert.match(warnings[0], WARNING);
    assert.deepEqual([text.code, text.stdout], [0, `generation ${generation + 1}\n`]);
    assert.match(text.stderr.replace(/^warning: /, '').trimEnd(), WARNING);
    assert.deepEqual(answered, { generation: generation + 2, warnings });
    assert.deepEqual(kept, answered);
  });

for (const owner of ['daemon', 'foreground'] as const)
  it(`ends with 1 where the new generation leaves the host not ready, and says why (${owner})`, async (t) => {
    const required = 'readiness: { endpoints: [{ owner: root/sandbox, name: sandbox }] }';
    const { path, url, port, write } = await portProject(t);
    const configure = (plugins: string): void =>
      write(
        'svc.config.yml',
        `http: { port: ${port}, token: "\${HTTP_TOKEN}", ${required} }\nplugins: { ${plugins} }\n`,
      );
    configure('echo: {}, sandbox: {}');
    if (owner === 'daemon') assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    else startSvc(FOREGROUND, { cwd: path });
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the host to be ready' });
    configure('echo: {}');

    const { code, stdout } = await svc(['runtime', 'reload'], { cwd: path });
    const { code: again, stdout: json } = await svc(['runtime', 'reload', '--json'], { cwd: path });
    configure('echo: {}, sandbox: {}');
    const mended = await svc(['runtime', 'reload', '--json'], { cwd: path });

    assert.deepEqual([code, again, mended.code], [1, 1, 0]);
    assert.match(stdout, /^generation \d+ serves, but the host is not ready: endpoint:root\/sandbox:sandbox: not in/);
    const { reloaded, ready, reasons } = JSON.parse(json);
    assert.deepEqual([reloaded, ready, reasons.length], [true, false, 1]);
    assert.deepEqual([JSON.parse(mended.stdout).ready, JSON.parse(mended.stdout).reasons], [true, []]);
  });

it('quotes no secret that an adapter quotes, and judges none that is made up in mode test', async (t) => {
  const { url, path, paths, port } = await portProject(t, { plugins: { 'quoting.js': QUOTING } });
  const secret = `a-secret-of-an-account-${port}`;
  writeFileSync(paths.env, `${readFileSync(paths.env, 'utf8')}QUOTED=${secret}\n`);
  const keys = `http: { port: ${port}, token: "\${HTTP_TOKEN}" }\nplugins:\n  own: { use: ./plugins/quoting.js, secret: "\${QUOTED}" }`;
  const reloaded = async (mode: string, config: string): Promise<readonly string[]> => {
    writeFileSync(`${path}/svc.config.yml`, config);
    const env = { SVC_TEST_PORT: String(port) }; // as svc/testing starts its hosts: nobody else may serve in mode test
    const { child, ended } = startSvc(['runtime', 'start', '--mode', mode, '--no-watch'], { cwd: path, env });
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the host to be ready' });
    const { stdout } = await svc(['runtime', 'reload', '--json'], { cwd: path });
    child.kill('SIGTERM');
    await ended;
    return JSON.parse(stdout).warnings;
  };

  const [warning = '', ...others] = await reloaded('production', keys);

  assert.deepEqual([others, warning.includes(secret)], [[], false]);
  assert.match(warning, /plugins\.own cannot work: not taken: \S+; write another one$/);
  assert.deepEqual(await reloaded('test', `${keys}${BAD}`), []);
});
