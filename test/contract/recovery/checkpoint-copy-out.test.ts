import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { copyOut, removeCopies, removeUnfinished } from '../../../worker/recovery/checkpoint/copy-out.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { pruneStored } from '../../../worker/recovery/checkpoint/remove-checkpoints.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';

function otherDisk(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-copies-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a copy on another disk', () => {
  it('is whole, with the files that checkpoints share once for all', async (t) => {
    const project = stoppedProject(t);
    const to = otherDisk(t);
    mkdirSync(join(to, 'c1.part')); // left by a kill
    for (const name of [await project.make(), await project.make()]) await copyOut({ project: project.path, to, name });

    assert.deepEqual(readdirSync(to).sort(), ['c1', 'c2', 'files']);
    assert.deepEqual(readdirSync(join(to, 'files')), [project.media]);
    assert.deepEqual(readManifest(join(to, 'c2')), readManifest(checkpointFolder(project.path, 'c2')));
    for (const { path } of readManifest(join(to, 'c2')).parts.filter((part) => !part.path.startsWith('files/')))
      assert.deepEqual(
        readFileSync(join(to, 'c2', path)),
        readFileSync(join(checkpointFolder(project.path, 'c2'), path)),
      );
  });

  it('takes away what a kill has left of an earlier copy, and leaves what another project may be writing', async (t) => {
    const [project, other] = [stoppedProject(t), stoppedProject(t)];
    other.store({ project_id: 'p-2' });
    const [to, shared] = [otherDisk(t), otherDisk(t)];
    for (const name of ['c1', 'c7', 'c8', 'c9']) mkdirSync(join(to, `${name}.part`, 'project'), { recursive: true });
    writeFileSync(join(to, 'c7.part', 'project-id'), 'p-1');
    writeFileSync(join(to, 'c9.part', 'project-id'), 'p-9');
    const first = await project.make();
    cpSync(checkpointFolder(project.path, first), join(to, 'c6.part'), { recursive: true });
    cpSync(checkpointFolder(other.path, await other.make()), join(to, 'c5.part'), { recursive: true });
    for (const folder of [to, shared]) {
      mkdirSync(join(folder, 'files'));
      writeFileSync(join(folder, 'files', `${'0'.repeat(64)}.tmp`), 'half a file');
    }

    for (const folder of [to, shared]) await copyOut({ project: project.path, to: folder, name: first });

    assert.deepEqual(readdirSync(to).sort(), ['c1', 'c5.part', 'c9.part', 'files']);
    assert.deepEqual(readdirSync(join(to, 'files')), [`${'0'.repeat(64)}.tmp`, project.media]);
    assert.deepEqual(
      [readdirSync(shared).sort(), readdirSync(join(shared, 'files'))],
      [['c1', 'files'], [project.media]],
    );
    assert.deepEqual(readManifest(join(to, 'c1')), readManifest(checkpointFolder(project.path, first)));
    assert.ok(!readdirSync(join(to, 'c1')).includes('project-id'));
    await removeUnfinished({ to, project: 'p-9' });
    await removeUnfinished({ to: join(to, 'unmounted'), project: 'p-9' });
    assert.deepEqual(readdirSync(to).sort(), ['c1', 'c5.part', 'files']);
  });

  it('goes with its checkpoint; one that was never here stays', async (t) => {
    const project = stoppedProject(t);
    const to = otherDisk(t);
    for (const name of [await project.make(), await project.make()]) await copyOut({ project: project.path, to, name });

    const [first, second] = ['c1', 'c2'].map((name) => readManifest(join(to, name)));
    assert.ok(first !== undefined && second !== undefined);
    await removeCopies({ to, removed: [first, { ...first, name: 'c9' }] });
    assert.deepEqual(readdirSync(join(to, 'files')), [project.media]);
    assert.deepEqual(readdirSync(to).sort(), ['c2', 'files']);
    await removeCopies({ to, removed: [second] });

    assert.deepEqual([readdirSync(to), readdirSync(join(to, 'files'))], [['files'], []]);
  });

  it('of another project stays, whoever makes or removes one of the same name', async (t) => {
    const [project, other] = [stoppedProject(t), stoppedProject(t)];
    const to = otherDisk(t);
    await copyOut({ project: project.path, to, name: await project.make() });
    const copied = readManifest(join(to, 'c1'));
    const name = await other.make();

    await assert.rejects(copyOut({ project: other.path, to, name }), {
      code: 'refused',
      message: /another checkpoint/,
    });
    await removeCopies({ to, removed: [readManifest(checkpointFolder(other.path, name))] });
    await removeCopies({ to, removed: [{ ...copied, project: 'another' }] });
    assert.deepEqual(readManifest(join(to, 'c1')), copied);
    assert.deepEqual(readdirSync(join(to, 'files')), [project.media]);
    await copyOut({ project: project.path, to, name: 'c1' });

    writeFileSync(join(to, 'c1', 'manifest.json'), 'no manifest');
    await assert.rejects(copyOut({ project: project.path, to, name: 'c1' }), { code: 'refused' });
    await removeCopies({ to, removed: [copied] });
    assert.deepEqual(readdirSync(to).sort(), ['c1', 'files']);
  });

  it('is made and removed by the commands of a stopped host; a disk that is not there is a warning', async (t) => {
    const project = stoppedProject(t);
    const to = otherDisk(t);
    const recovery = (copyTo: string): string =>
      `http: {port: 0, token: "\${HTTP_TOKEN}"}\nrecovery: {copyTo: "${copyTo}", keepLast: 1, keepDays: 0, keepWeeks: 0}\n`;
    project.write('svc.config.yml', recovery(to));
    for (const _ of [1, 2]) await project.make();
    assert.deepEqual(readdirSync(to).sort(), ['c1', 'c2', 'files']);

    await pruneStored({ project: project.path, environment: {} });
    assert.deepEqual(readdirSync(to).sort(), ['c2', 'files']);
    project.write('svc.config.yml', recovery(join(to, 'unmounted')));
    const { warnings } = await makeStopped({ project: project.path, environment: {}, reason: null });

    assert.match(warnings.join(), /^c3 could not be copied to /);
  });

  it('is refused where the folder is missing, and where a part is damaged; nothing is left then', async (t) => {
    const project = stoppedProject(t);
    const to = otherDisk(t);
    const name = await project.make();

    await assert.rejects(copyOut({ project: project.path, to: join(to, 'unmounted'), name }), {
      code: 'storage_unavailable',
    });
    writeFileSync(join(checkpointFolder(project.path, name), 'project/package.json'), '{}');
    await assert.rejects(copyOut({ project: project.path, to, name }), { code: 'checkpoint_damaged' });

    assert.deepEqual(readdirSync(to), ['files']);
  });
});
