// kill -9 at each step of a restore: the old state or the new one, whole, and the next try ends well.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { insert, item, rowsOf, withDatabase } from '../../support/recovery/changed-rows.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

let program = '';
before(async () => {
  const made = await bundlePrograms(['test/support/fixture-programs/restore-step.ts'], { FAILPOINTS: 'true' });
  program = made.get('restore-step') ?? '';
});

function run(step: 'restore' | 'finish', { path }: StoppedProject, failpoints = '') {
  const env = { PATH: process.env['PATH'], SVC_FAILPOINTS: failpoints };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program, step, path], {
    env,
    encoding: 'utf8',
  });
  return { status, signal, stdout: stdout.trim(), stderr };
}

const NEW_JOBS = '{"version":1,"revision":9,"jobs":[]}';

/** The checkpoint has `then` and revision 4; the present state has `now`, revision 9 and a delivery that nobody handled. */
async function changedProject(t: Cleanup): Promise<StoppedProject> {
  const project = stoppedProject(t);
  project.store({ fact: 'then' });
  await project.make();
  project.store({ fact: 'now' });
  withDatabase(project.paths.database, (database) => insert(database, 'inbox', item('parked')));
  project.write('data/schedule-jobs.json', NEW_JOBS);
  rmSync(join(project.paths.mediaDir, project.media));
  return project;
}

/** What a start would find: of one state, or the test fails. */
function stateOf(project: StoppedProject): string {
  const [[fact]] = rowsOf(project.paths.database, "SELECT value FROM meta WHERE key = 'fact'") as [[string]];
  const { revision } = JSON.parse(project.read('data/schedule-jobs.json'));
  const parked = rowsOf(project.paths.database, "SELECT state FROM inbox WHERE id = 'parked'");
  const hasMedia = existsSync(join(project.paths.mediaDir, project.media));
  return JSON.stringify([fact, revision, parked, hasMedia]);
}

const OLD = JSON.stringify(['now', 9, [['received']], false]);
const NEW = JSON.stringify(['then', 4, [['received']], true]);

describe('a kill while a state is restored', () => {
  for (const failpoint of ['restore.staged=kill', 'restore.prepared=kill'])
    it(`leaves the old state at ${failpoint}, and the next try restores`, async (t) => {
      const project = await changedProject(t);

      assert.equal(run('restore', project, failpoint).signal, 'SIGKILL');
      assert.ok(!existsSync(project.paths.pendingSwitch));
      assert.equal(stateOf(project), OLD);
      const second = run('restore', project);

      assert.deepEqual([second.status, stateOf(project)], [0, NEW], second.stderr);
      assert.ok(!existsSync(join(project.paths.stateDir, 'restoring.part')));
    });

  for (const failpoint of [
    'restore.decided=kill',
    'restore.renamed=kill@1',
    ...[2, 3, 4, 5].map((pass) => `restore.renamed=kill@${pass}`),
  ])
    it(`leaves the new state to be finished at ${failpoint}`, async (t) => {
      const project = await changedProject(t);

      assert.equal(run('restore', project, failpoint).signal, 'SIGKILL');
      assert.ok(existsSync(project.paths.pendingSwitch));
      assert.match(run('restore', project).stderr, /checkpoint restore --finish/);
      await assert.rejects(project.make(), { code: 'switch_pending' });
      const finished = run('finish', project);

      assert.deepEqual([finished.status, finished.stdout, stateOf(project)], [0, 'restore', NEW], finished.stderr);
      assert.deepEqual(
        readdirSync(project.paths.stateDir).filter((name) => /part|switch/.test(name)),
        [],
      );
      assert.ok(existsSync(join(project.paths.replacedDir, 's1', 'data.sqlite')));
    });

  it('has nothing left to do at restore.finished=kill', async (t) => {
    const project = await changedProject(t);

    assert.equal(run('restore', project, 'restore.finished=kill').signal, 'SIGKILL');

    assert.deepEqual([run('finish', project).stdout, stateOf(project)], ['undefined', NEW]);
  });
});
