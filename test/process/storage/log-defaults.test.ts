// What a host keeps of its log whose configuration says nothing of it: the default numbers, read off the disk.
import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;
/** Some 25 MiB a second from when the file `talk` is there on, so that a rotation that comes a moment late changes little. */
const TALKER = `import { existsSync } from 'node:fs';
import { definePlugin } from 'svc';
const LINES = ('y'.repeat(1_000) + '\\n').repeat(200);
export default definePlugin({ name: 'talker', setup(p) {
  const timer = setInterval(() => { if (existsSync('talk')) process.stdout.write(LINES); }, 10);
  timer.unref();
} });
`;

describe('the log of a host that says nothing of it', () => {
  it('is kept in five files of 20 MiB, and an end with its last 20 lines', async (t) => {
    const project = await portProject(t, {
      keys: { plugins: { sandbox: {}, talker: { use: './plugins/talker.mjs' } } },
      plugins: { 'talker.mjs': TALKER },
    });
    const run = (...words: string[]) => svc(['runtime', ...words], { cwd: project.path });
    assert.equal((await run('start', '--daemon')).code, 0);
    const { stateDir, runtimeLog } = project.paths;
    const files = (): readonly string[] => readdirSync(stateDir).filter((name) => name.startsWith('runtime.log'));
    let [rotations, sizeBefore] = [0, 0];

    writeFileSync(join(project.path, 'talk'), '');
    const isRotatedOften = (): boolean => {
      const { size } = statSync(runtimeLog);
      if (size < sizeBefore) rotations += 1;
      sizeBefore = size;
      return rotations > 5;
    };
    await until(isRotatedOften, { what: 'more rotations than files are kept', everyMs: 20 });
    const { pid } = JSON.parse((await run('status', '--json')).stdout);
    process.kill(pid, 'SIGKILL');
    const ended = async () =>
      [JSON.parse((await run('status', '--json')).stdout)].find(({ exits }) => exits.length > 0);
    const { exits } = await until(ended, { what: 'its end' });
    await run('stop');

    assert.equal(exits[0].lastLines.length, 20);
    assert.deepEqual(
      files().toSorted(),
      ['', '.1', '.2', '.3', '.4'].map((end) => `runtime.log${end}`),
    );
    const sizes = files()
      .filter((name) => name !== 'runtime.log')
      .map((name) => statSync(join(stateDir, name)).size / MIB);
    assert.ok(Math.min(...sizes) >= 20, `${sizes.join(', ')} MiB`);
    assert.ok(Math.min(...sizes) < 25, `${sizes.join(', ')} MiB`);
  });
});
