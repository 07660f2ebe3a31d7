// A plugin whose code runs without an end holds no command up for ever: it is named, and the command ends with 1. In a terminal of its
// developer it is named, and goes on.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

/** Holds the thread as a loop does, but sleeps in it: the cases wait side by side, and leave the processors to others. */
const NEVER_ENDS = 'const cell = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.wait(cell, 0, 0, 20);';
const IN_SETUP = `import { AsyncLocalStorage } from 'node:async_hooks';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'own', setup() { new AsyncLocalStorage().run(1, () => { ${NEVER_ENDS} }); } });
`;

const busyProject = (t: TestContext, source: string, keys: Readonly<Record<string, unknown>> = {}) =>
  portProject(t, {
    keys: { ...keys, plugins: { sandbox: {}, own: { use: './plugins/own.mjs' } } },
    plugins: { 'own.mjs': source },
  });

describe('a plugin that runs without an end', { concurrency: true }, () => {
  for (const [where, source, command] of [
    ['its module, which never sleeps,', 'for (;;);\n', 'config check'],
    ['its module', NEVER_ENDS, 'config check --json'],
    ['its module', NEVER_ENDS, 'runtime start --once --mode test'],
    ['its module', NEVER_ENDS, 'doctor --endpoint own'],
    ['setup', IN_SETUP, 'config check'],
    ['setup', IN_SETUP, 'config check --json'],
    ['setup', IN_SETUP, 'runtime start --once --mode test'],
    ['setup', IN_SETUP, 'doctor --endpoint own'],
  ] as const)
    it(`in ${where} is named by \`svc ${command}\``, async (t) => {
      const { path } = await busyProject(t, source);

      const { code, stdout, stderr } = await svc(command.split(' '), { cwd: path });

      assert.equal(code, 1, stdout + stderr);
      const isJson = command.endsWith('--json');
      const told = isJson ? (JSON.parse(stdout) as { error: { message: string } }).error.message : stderr;
      assert.match(told, /root\/own runs without an end: it has kept the process busy for 15 s/);
      assert.doesNotMatch(stderr, /debugger/);
    });

  it('is named by `svc runtime start --daemon`, when its supervisor has ended the worker', async (t) => {
    const { path } = await busyProject(t, IN_SETUP, { supervisor: { restarts: 1 } });

    const { code, stdout } = await svc(['runtime', 'start', '--daemon', '--timeout', '300'], { cwd: path });

    assert.equal(code, 1);
    assert.match(
      stdout,
      /^failed: .*not up within 30000 ms: root\/own runs without an end: it has kept the process busy/,
    );
  });

  it('is named by `svc runtime start`, which waits on', async (t) => {
    const { path } = await busyProject(t, IN_SETUP);
    const started = startSvc(['runtime', 'start'], { cwd: path });
    t.after(() => started.child.kill('SIGKILL'));

    await until(() => started.output().includes('without an end'), { what: 'its name' });

    assert.match(
      started.output(),
      /root\/own runs without an end: it has kept the process busy for 15 s; look for a loop/,
    );
    assert.deepEqual([started.child.exitCode, started.child.signalCode], [null, null]);
  });
});
