// What a process of its own finds in the code of a project while a worker runs.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { NextCode } from '../../worker/runtime/loading/next-code.ts';
import { lives } from '../support/process/supervised.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

const GOOD = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'own', setup() {} });
`;

function project(t: TestContext, plugin: string) {
  const { path, env, write } = temporaryProject(t, {
    config: { plugins: { own: { use: './plugins/own.js' } } },
    plugins: { 'own.js': plugin },
  });
  const code = new NextCode({ project: path, mode: 'production', environment: env });
  return { code, path, write, change: (source: string) => write('plugins/own.js', source) };
}

describe('the code of the next worker', () => {
  it('is loaded in a process that is gone with its answer, whatever it has left running (NEXTCODE-2)', async (t) => {
    const { code, path } = project(
      t,
      `import { writeFileSync } from 'node:fs';\nwriteFileSync('pid', String(process.pid));\nsetInterval(() => {}, 1_000);\n${GOOD}`,
    );

    assert.equal(await code.check(), true);

    const pid = Number(readFileSync(join(path, 'pid'), 'utf8'));
    assert.ok(pid > 1 && pid !== process.pid);
    await until(() => !lives(pid), { what: 'the end of the process' });
  });

  it('is at fault where it ends the process, by a call or from within', async (t) => {
    const calls = project(t, `${GOOD}process.exit(0);\n`);
    const aborts = project(t, `${GOOD}process.abort();\n`);

    await assert.rejects(calls.code.check(), { code: 'plugin_failed', message: /process\.exit\(0\) was called/ });
    await assert.rejects(aborts.code.check(), { code: 'plugin_failed', message: /ended with SIGABRT/ });
  });

  it('may want an address that the worker which runs has', async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.after(() => void server.close());
    await until(() => server.listening, { what: 'the address' });
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const listens = `import { createServer } from 'node:net';\ncreateServer().listen(${port}, '127.0.0.1');\n`;
    const { code, change } = project(t, `${listens}${GOOD}`);

    assert.equal(await code.check(), true);

    change(`${listens}${GOOD}setImmediate(() => { throw new Error('boom'); });\n`);
    await assert.rejects(code.check(), { message: /root\/own: outside any handler: boom$/ });
  });

  it('is judged as it is when it is asked for, also by who asks while one is under way (NEXTCODE-1)', async (t) => {
    const { code, path, change, write } = project(
      t,
      `import { existsSync, writeFileSync } from 'node:fs';
writeFileSync('begun', '');
while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 10));
throw new Error('boom');
`,
    );

    const first = code.check();
    first.catch(() => {});
    await until(() => existsSync(join(path, 'begun')), { what: 'the first one' });
    change(GOOD);
    const [second, third] = [code.check(), code.check()];
    write('go', '');

    await assert.rejects(first, { message: /boom/ });
    assert.deepEqual(await Promise.all([second, third]), [true, true]);
  });
});
