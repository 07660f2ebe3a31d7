// Mode test: only with `--once` on the command line. A host of `svc/testing` serves in it, and lacks no secret that others could guess.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { startHost } from '../../../worker/testing/host.ts';
import { svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const EXAMPLE =
  parseEnv(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8'))['HTTP_TOKEN'] ?? assert.fail();

describe('a host in mode test', { concurrency: 3 }, () => {
  it('needs --once: without it nothing is started or touched', async (t) => {
    const { path } = temporaryProject(t);

    const { code, stderr } = await svc(['runtime', 'start', '--mode', 'test', '--no-watch'], { cwd: path });

    assert.equal(code, 2);
    assert.match(stderr, /--mode test goes with --once/);
    assert.equal(existsSync(join(path, '.svc')), false);
  });

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
