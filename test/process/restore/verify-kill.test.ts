// kill -9 in the midst of a rehearsal: nothing of the project changes, and the next try works.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readVerification } from '../../../shared/recovery/stored-checkpoints.ts';
import { CLI } from '../../support/process/built-svc.ts';
import { runProgram } from '../../support/process/run-program.ts';
import { checkpointOf, stoppedWorkroom } from '../../support/recovery/workroom-state.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** Its setup does not end while there is a file `hold` in the folder of the command. */
const HOLDING = `import { existsSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'holding', async setup() {
  while (existsSync('hold')) await new Promise((resolve) => setTimeout(resolve, 20));
} });
`;

const verify = ({ path }: TemporaryProject) => runProgram(process.execPath, [CLI, 'checkpoint', 'verify', 'c1'], path);

describe('a kill while a checkpoint is verified', () => {
  it('leaves the rehearsal aside, which the next one removes', async (t) => {
    const project = temporaryProject(t, { plugins: { 'holding.js': HOLDING } });
    const http = { port: 0, token: `\${HTTP_TOKEN}` };
    const plugins = { sandbox: {}, work: {}, holding: { use: './plugins/holding.js' } };
    project.write('svc.config.yml', JSON.stringify({ host: { name: 'team', kind: 'workroom' }, http, plugins }));
    await stoppedWorkroom(t, { project });
    assert.equal(await checkpointOf(project), 'c1');
    project.write('hold', '');
    const { rehearsalDir } = project.paths;
    const child = spawn(process.execPath, [CLI, 'checkpoint', 'verify', 'c1'], { cwd: project.path, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until(() => existsSync(join(rehearsalDir, 'project', 'node_modules')), { what: 'the rehearsal' });

    child.kill('SIGKILL');
    await ended;

    assert.equal(existsSync(rehearsalDir), true);
    assert.equal(readVerification(project.path, 'c1'), undefined);
    rmSync(join(project.path, 'hold'));
    const { code, stdout, stderr } = await verify(project);
    assert.deepEqual([code, existsSync(rehearsalDir)], [0, false], `${stdout}${stderr}`);
    assert.equal(readVerification(project.path, 'c1')?.level, 'rehearsed');
    const { rehearsalLock, checkpointsDir } = project.paths;
    for (const file of [rehearsalLock, join(checkpointsDir, 'c1.verified.json')])
      assert.equal(statSync(file).mode & 0o777, 0o600, file);
  });
});
