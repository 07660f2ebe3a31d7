// `--mode test` without `--once` serves: what may be missing where nothing is served may not be missing there.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { startHost } from '../../../worker/testing/host.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const START = ['runtime', 'start', '--mode', 'test', '--no-watch'];
const EXAMPLE =
  parseEnv(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8'))['HTTP_TOKEN'] ?? assert.fail();
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const TOKEN = 'token: "${HTTP_TOKEN}"';

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/pub/health`).then(
    ({ ok }) => ok,
    () => false, // nobody listens
  );

describe('a host in mode test', { concurrency: 3 }, () => {
  const refused = (
    name: string,
    setup: { readonly keys: string; readonly env?: Readonly<Record<string, string>> },
    expected: RegExp,
  ): void => {
    it(`does not serve with ${name}: 78, and nothing is touched`, async (t) => {
      const project = await portProject(t, { env: { HTTP_TOKEN: '', ...setup.env } });
      if (setup.env === undefined) project.write('.env', '');
      project.write('svc.config.yml', `http:\n  port: ${project.port}\n${setup.keys}`);

      const { child, ended } = startSvc(START, { cwd: project.path });
      let isUp = false;
      await until(async () => child.exitCode !== null || (isUp = await answers(project.url)), { what: 'the end' });
      assert.equal(isUp, false, 'it serves');
      const { code, stderr } = await ended;

      assert.equal(code, 78, stderr);
      assert.match(stderr, expected);
      assert.equal(existsSync(join(project.path, '.svc')), false);
    });
  };

  refused(
    'the example token',
    { keys: `  ${TOKEN}\n`, env: { HTTP_TOKEN: EXAMPLE } },
    /svc\.config\.yml:3:3 http\.token is still the example value; make one with `svc token create`/,
  );
  refused('an empty token', { keys: `  ${TOKEN}\n`, env: {} }, /svc\.config\.yml:3:3 http\.token is empty/);
  refused('no token', { keys: '' }, /svc\.config\.yml:1:1 http\.token is missing/);
  refused(
    'a token whose variable is not set',
    { keys: `  ${TOKEN}\n` },
    /svc\.config\.yml:3:3 http\.token needs the variable HTTP_TOKEN, which is not set/,
  );
  refused(
    'a demo token whose variable is not set',
    { keys: `  ${TOKEN}\n  demoToken: "\${DEMO}"\n`, env: { HTTP_TOKEN: 'a-token-of-26-characters-x' } },
    /svc\.config\.yml:4:3 http\.demoToken needs the variable DEMO, which is not set/,
  );
  refused(
    'a short token on every address',
    { keys: `  ${TOKEN}\n  host: 0.0.0.0\n`, env: { HTTP_TOKEN: 'abcdefgh' } },
    /svc\.config\.yml:3:3 http\.token must have at least 16 characters/,
  );

  it('takes no such token at a reload either: the one of the start stays', async (t) => {
    const host = await startHost({ owner: t, plugins: { sandbox: {} } });
    writeFileSync(join(host.project, '.env'), `HTTP_TOKEN=${EXAMPLE}\nSVC_ANY_PORT=1\n`, { mode: 0o600 });

    const answer = await host.request('/api/system/reload', { method: 'POST' });

    assert.equal(answer.status, 409);
    assert.match(JSON.stringify(await answer.json()), /http\.token is still the example value/);
    assert.equal((await host.request('/api/system/readiness')).status, 200);
    assert.equal((await host.request('/api/system/readiness', { token: EXAMPLE })).status, 401);
  });

  it('serves without a secret of an account: nobody can guess what stands in its place', async (t) => {
    const host = await startHost({
      owner: t,
      plugins: { sandbox: {}, webhook: { endpoints: [{ id: 'a', secrets: ['${NOBODY}'] }] } },
    });

    const guess = await host.request('/webhooks/webhook/a', { method: 'POST', token: null, json: { text: 'hello' } });

    assert.equal(guess.ok, false, String(guess.status));
  });
});

describe('--once without a mode', { concurrency: 3 }, () => {
  it('says in which mode it runs', async (t) => {
    const { path } = temporaryProject(t);

    const unsaid = await svc(['runtime', 'start', '--once', '--json'], { cwd: path });
    const said = await svc(['runtime', 'start', '--once', '--mode', 'test', '--json'], { cwd: path });

    assert.deepEqual(
      [unsaid, said].map(({ code, stdout, stderr }) => [code, JSON.parse(stdout).mode, stderr]),
      [
        [0, 'test', '--once runs in mode test\n'],
        [0, 'test', ''],
      ],
    );
  });
});
