// kill -9 at each step of making, removing, exporting and importing a checkpoint: no half one is left, and the next try works.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

let program = '';
before(async () => {
  const made = await bundlePrograms(['test/support/fixture-programs/checkpoint-step.ts'], { FAILPOINTS: 'true' });
  program = made.get('checkpoint-step') ?? '';
});

function run(step: 'make' | 'prune' | 'export' | 'import', { path }: StoppedProject, failpoints = '') {
  const env = { PATH: process.env['PATH'], SVC_FAILPOINTS: failpoints };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program, step, path], {
    env,
    encoding: 'utf8',
  });
  return { status, signal, stdout: stdout.trim(), stderr };
}

/** Every checkpoint is whole: manifest, parts, digests. */
function assertWhole({ path, paths }: StoppedProject): void {
  for (const name of readdirSync(paths.checkpointsDir).filter((entry) => /^c\d+$/.test(entry)))
    for (const part of readManifest(checkpointFolder(path, name)).parts) {
      const folder = part.path.startsWith('files/') ? paths.checkpointsDir : checkpointFolder(path, name);
      const digest = createHash('sha256')
        .update(readFileSync(join(folder, part.path)))
        .digest('hex');
      assert.equal(digest, part.sha256, `${name} ${part.path}`);
    }
}

const names = ({ paths }: StoppedProject): string[] =>
  readdirSync(paths.checkpointsDir).filter((name) => name !== 'files');

describe('a kill while a checkpoint is made', () => {
  for (const [failpoint, left] of [
    ['checkpoint.begun=kill', ['c1.part']],
    ['checkpoint.copied=kill', ['c1.part']],
    ['checkpoint.whole=kill', ['c1.part']],
    ['checkpoint.renamed=kill', ['c1']],
  ] as const)
    it(`leaves ${left.join()} at ${failpoint}, and the next try makes c2`, (t) => {
      const project = stoppedProject(t);

      assert.equal(run('make', project, failpoint).signal, 'SIGKILL');
      assert.deepEqual(names(project), left);
      const second = run('make', project);

      assert.deepEqual([second.status, second.stdout], [0, 'c2'], second.stderr);
      assert.deepEqual(names(project), left[0] === 'c1' ? ['c1', 'c2'] : ['c2']);
      assertWhole(project);
    });
});

it('a kill while one is removed leaves none that is damaged, and the next removal goes on', (t) => {
  const project = stoppedProject(t);
  for (const _ of [1, 2, 3]) run('make', project);

  assert.equal(run('prune', project, 'prune.renamed=kill').signal, 'SIGKILL');
  assert.deepEqual(names(project), ['c1.part', 'c2', 'c3']);
  assertWhole(project);
  assert.equal(run('prune', project).status, 0);

  assert.deepEqual(names(project), ['c3']);
  assertWhole(project);
  assert.ok(existsSync(join(project.paths.checkpointsDir, 'files', project.media)));
});

describe('a kill while a checkpoint is exported', () => {
  for (const failpoint of ['export.staged=kill', 'export.written=kill'])
    it(`leaves no archive at ${failpoint}, and nothing of it behind the next prune`, (t) => {
      const project = stoppedProject(t);
      run('make', project);

      assert.equal(run('export', project, failpoint).signal, 'SIGKILL');
      assert.ok(!existsSync(join(project.path, 'c1.tar.gz')));
      assert.deepEqual(names(project), ['c1', 'c1-export.part']);
      assert.equal(run('prune', project).status, 0);
      assert.deepEqual(names(project), ['c1']);
      const second = run('export', project);

      assert.equal(second.status, 0, second.stderr);
      assert.deepEqual(
        readdirSync(project.path).filter((name) => name.startsWith('c1')),
        ['c1.tar.gz'],
      );
      assertWhole(project);
    });
});

describe('a kill while an archive is imported', () => {
  for (const [failpoint, left] of [
    ['import.read=kill', 'c2.part'],
    ['import.renamed=kill', 'c2'],
  ] as const)
    it(`leaves ${left} at ${failpoint}, and the next one is whole`, (t) => {
      const project = stoppedProject(t);
      run('make', project);
      run('export', project);

      assert.equal(run('import', project, failpoint).signal, 'SIGKILL');
      assert.deepEqual(names(project), ['c1', left]);
      assertWhole(project);
      const second = run('import', project);

      assert.deepEqual([second.status, second.stdout], [0, 'c3'], second.stderr);
      assert.deepEqual(names(project), left === 'c2' ? ['c1', 'c2', 'c3'] : ['c1', 'c3']);
      assertWhole(project);
    });
});
