// `npm test` and its kind: each script replaces its shell by the runner, so that a kill of npm reaches it. A shell would die alone.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { identify, isAlive, type ProcessIdentity } from '../../../shared/process/process-identity.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { until } from '../../support/until.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
/** Those that end in a program of Node: the runner of tests, benchmarks, coverage. */
const scripts = Object.entries(
  (JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
).filter(([, text]) => text.includes('npm run -s build &&'));
const WAITING = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.PID_FILE, String(process.pid));
setInterval(() => {}, 60_000);
`;

describe('a kill of npm', { concurrency: 3 }, () => {
  for (const [name, text] of scripts)
    it(`ends what \`npm run ${name}\` runs`, async (t) => {
      const { program, npm } = await runner(t, { name, text });

      npm.kill('SIGTERM');

      await once(npm, 'exit');
      await until(() => !isAlive(program), { what: 'the runner to end' });
    });

  it('is tried on the runner of tests', () => {
    assert.ok(scripts.some(([name]) => name === 'test'));
  });
});

/** The script in a package of its own, whose program only waits. */
async function runner(
  t: TestContext,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<{ readonly program: ProcessIdentity; readonly npm: ChildProcess }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-npm-test-'));
  const file = join(folder, /node --import tsx (\S+)/.exec(text)?.[1] ?? assert.fail(`${name} starts no program`));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, WAITING);
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', scripts: { build: 'true', [name]: text } }),
  );
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const pidFile = join(folder, 'pid');
  const npm = spawn('npm', ['run', name], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, PID_FILE: pidFile },
    stdio: 'ignore',
  });
  let program: ProcessIdentity | undefined;
  t.after(() => {
    npm.kill('SIGKILL');
    if (program !== undefined && isAlive(program)) process.kill(program.pid, 'SIGKILL');
    removeLive(folder);
  });
  program = await until(() => existsSync(pidFile) && identify(Number(readFileSync(pidFile, 'utf8'))), {
    what: 'the program',
  });
  return { program, npm };
}
