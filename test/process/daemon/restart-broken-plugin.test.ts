// A restart where the next worker would serve nothing, because a plugin has been broken since the start.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { ask } from '../../support/process/supervised.ts';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const GOOD = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'own', setup(p) { p.command('own', { summary: 'Own' }, () => 'own'); } });
`;
const BROKEN = `${GOOD}throw new Error('boom at load');\n`;
const WITH_KEY = GOOD.replace('definePlugin }', 'definePlugin, t }').replace(
  "name: 'own',",
  "name: 'own', config: { word: t.string() },",
);

const WITH_VARIABLE = `${GOOD}new URL(process.env.OWN_URL);\n`;
const REJECTING = `${GOOD}void Promise.reject(new Error('boom behind its back'));\n`;

async function daemon(t: TestContext, plugin = GOOD) {
  const { path, paths, url, token, read, write } = await portProject(t, {
    keys: { plugins: { sandbox: {}, own: { use: './plugins/own.js' } } },
    plugins: { 'own.js': plugin },
  });
  const runWith = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const { code, stdout } = await svc(['runtime', ...args, '--json'], { cwd: path, env });
    return { code, body: JSON.parse(stdout) };
  };
  const run = (...args: readonly string[]) => runWith({}, ...args);
  const post = async (what: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/api/system/${what}`, { method: 'POST', headers });
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  return {
    url,
    run,
    runWith,
    post,
    change: (source: string) => write('plugins/own.js', source),
    configure: (text: string) => write('svc.config.yml', `${read('svc.config.yml')}${text}`),
    control: (command: string) => ask(join(paths.stateDir, 'control.sock'), command),
  };
}

const isUp = ({ control }: Pick<Awaited<ReturnType<typeof daemon>>, 'control'>): Promise<string> =>
  until(
    async () => {
      const { runtimeId, state } = (await control('status')) as RuntimeStatus;
      return state === 'running' && runtimeId;
    },
    { what: 'the worker to be up' },
  );

describe('runtime restart', { concurrency: 3 }, () => {
  for (const flag of [[], ['--daemon']])
    it(`stops nothing where a plugin throws when it is loaded: restart ${flag.join('')}`, async (t) => {
      const { url, run, change } = await daemon(t);
      const started = await run('start', '--daemon');
      change(BROKEN);

      const { code, body } = await run('restart', ...flag);
      const { runtimeId, supervisorPid, ready } = (await run('status')).body;

      assert.deepEqual([code, body.error.code], [1, 'plugin_failed']);
      assert.match(body.error.message, /own.*boom at load/s);
      assert.match(body.error.hint, /nothing was restarted/);
      assert.deepEqual([runtimeId, supervisorPid], [started.body.runtimeId, started.body.supervisorPid]);
      assert.ok(ready && (await fetch(`${url}/pub/ready`)).ok);
      change(`${GOOD}// mended\n`);
      assert.equal((await run('restart', ...flag)).code, 0);
    });

  it('ends with 78 where the changed plugin does not take its keys any more, and stops nothing', async (t) => {
    const { run, change } = await daemon(t);
    const started = await run('start', '--daemon');
    change(WITH_KEY);

    const { code, body } = await run('restart');

    assert.deepEqual([code, body.error.code], [78, 'config_invalid']);
    assert.match(body.error.message, /word/);
    assert.equal((await run('status')).body.runtimeId, started.body.runtimeId);
  });

  it('stops nothing where a promise of a plugin fails that nobody awaits: no worker would outlive it', async (t) => {
    const { run, change } = await daemon(t);
    const started = await run('start', '--daemon');
    change(REJECTING);

    const { code, body } = await run('restart');

    assert.deepEqual([code, body.error.code], [1, 'plugin_failed']);
    assert.match(body.error.message, /root\/own.*boom behind its back/s);
    assert.equal((await run('status')).body.runtimeId, started.body.runtimeId);
  });

  it('looks at changed code with the variables of its owner, from a shell without them', async (t) => {
    const { run, runWith, change } = await daemon(t);
    const started = await runWith({ OWN_URL: 'https://own.example' }, 'start', '--daemon');
    change(WITH_VARIABLE);

    const { code, body } = await run('restart');

    assert.equal(code, 0, JSON.stringify(body));
    assert.notEqual(body.runtimeId, started.body.runtimeId);
  });

  it('does as it is asked where nothing has changed, from a shell without the variables that plugins read', async (t) => {
    const { run, runWith } = await daemon(t, WITH_VARIABLE);
    const started = await runWith({ OWN_URL: 'https://own.example' }, 'start', '--daemon');

    const { code, body } = await run('restart');

    assert.deepEqual([started.code, code], [0, 0]);
    assert.notEqual(body.runtimeId, started.body.runtimeId);
  });

  it('does as it is asked where nothing serves that could be lost', async (t) => {
    const { run, control } = await daemon(t, BROKEN);
    const started = await run('start', '--daemon', '--timeout', '1');
    const before = await isUp({ control });

    const { code } = await run('restart', '--timeout', '1');

    assert.deepEqual([started.code, code], [1, 1]);
    await until(
      async () => {
        const { runtimeId } = (await run('status')).body;
        return typeof runtimeId === 'string' && runtimeId !== before;
      },
      { what: 'the next worker, which serves nothing either' },
    );
  });
});

describe('what else would end in a restart', { concurrency: 3 }, () => {
  it('stops nothing where a plugin throws when it is loaded: runtime reload --or-restart', async (t) => {
    const { run, change } = await daemon(t);
    const started = await run('start', '--daemon');
    change(BROKEN);

    const { code, body } = await run('reload', '--or-restart');

    assert.deepEqual([code, body.error.code], [1, 'reload_refused']);
    assert.match(body.error.message, /own.*boom at load/s);
    const { runtimeId, ready } = (await run('status')).body;
    assert.deepEqual([runtimeId, ready], [started.body.runtimeId, true]);
    change(`${GOOD}// mended\n`);
    const mended = await run('reload', '--or-restart');
    assert.equal(mended.code, 0, JSON.stringify(mended.body));
    assert.notEqual(mended.body.runtimeId, started.body.runtimeId);
  });

  it('stops nothing where a plugin throws when it is loaded: POST /api/system/restart', async (t) => {
    const { run, post, change } = await daemon(t);
    const started = await run('start', '--daemon');
    change(BROKEN);

    const { status, body } = await post('restart');

    assert.deepEqual([status, body['code'], body['details']], [409, 'restart_refused', { reason: 'plugin_failed' }]);
    assert.match(String(body['detail']), /own.*boom at load/s);
    assert.equal((await run('status')).body.runtimeId, started.body.runtimeId);
    change(`${GOOD}// mended\n`);
    assert.equal((await post('restart')).status, 202);
  });

  it('takes in a plugin that was mended after a first assembly that failed: runtime reload --or-restart', async (t) => {
    const { run, control, post, change } = await daemon(t, BROKEN);
    await run('start', '--daemon', '--timeout', '1');
    const before = await isUp({ control });
    change(GOOD);

    const refused = await run('reload');
    const overHttp = await post('reload');
    const { code, body } = await run('reload', '--or-restart');

    assert.deepEqual([refused.code, refused.body.error.code], [1, 'restart_required']);
    assert.match(refused.body.error.message, /plugins\/own\.js/);
    assert.deepEqual([overHttp.status, overHttp.body['code']], [409, 'restart_required']);
    assert.equal(code, 0, JSON.stringify(body));
    assert.notEqual(body.runtimeId, before);
  });

  it('tells a refused reload before it is answered: the status after it has no former reason', async (t) => {
    const { run, configure, control } = await daemon(t, BROKEN);
    await run('start', '--daemon', '--timeout', '1');
    await isUp({ control });

    for (const key of ['first_fault', 'second_fault', 'third_fault']) {
      configure(`${key}: 1\n`);
      await assert.rejects(control('reload'), new RegExp(key));
      const { reasons } = (await control('status')) as RuntimeStatus;
      assert.match(reasons.join(), new RegExp(key));
    }
  });

  it('ends no worker, though it serves nothing, where the next one would end with 78', async (t) => {
    const { run, control, change } = await daemon(t, BROKEN);
    await run('start', '--daemon', '--timeout', '1');
    const before = await isUp({ control });
    change(WITH_KEY);

    const { code, body } = await run('reload', '--or-restart');

    assert.deepEqual([code, body.error.code], [78, 'config_invalid']);
    assert.equal((await run('status')).body.runtimeId, before);
  });
});
