// Why a restore is refused, with the way out that an operator is told; nothing was changed.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { identify } from '../../../shared/process/process-identity.ts';
import { checkpointFolder, verificationFile } from '../../../shared/recovery/layout.ts';
import type { SvcError } from '../../../shared/svc-error.ts';
import { acquireWriterLock } from '../../../worker/database/writer-lock.ts';
import { readRestorePlan, restore } from '../../../worker/recovery/restore/restore.ts';
import { rowsOf } from '../../support/recovery/changed-rows.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

type Manifest = { format: string; database: Record<string, unknown> };

const restored = async ({ path }: StoppedProject, name: string): Promise<unknown> => {
  const request = { project: path, environment: {}, name, carry: true, open: undefined };
  return restore({ ...request, digest: readRestorePlan(request).digest });
};

const refusal = (project: StoppedProject, name: string): Promise<SvcError> =>
  restored(project, name).then(
    () => assert.fail('it was restored'),
    (error: SvcError) => error,
  );

function changeManifest({ path }: StoppedProject, change: (manifest: Manifest) => void): void {
  const file = join(checkpointFolder(path, 'c1'), 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  change(manifest);
  writeFileSync(file, JSON.stringify(manifest));
}

describe('a restore is refused', () => {
  it('where a file of the checkpoint or its manifest is wrong, and names the newest one that was rehearsed', async (t) => {
    const project = stoppedProject(t);
    for (const _ of ['c1', 'c2', 'c3', 'c4']) await project.make();
    for (const [name, level] of Object.entries({ c2: 'rehearsed', c3: 'rehearsed', c4: 'checked' }))
      writeFileSync(
        verificationFile(project.path, name),
        JSON.stringify({ at: '2026-11-28T02:00:00Z', level, ok: true, ms: 1, svc: '0.1.0', faults: [] }),
      );
    const folder = checkpointFolder(project.path, 'c1');
    project.store({ fact: 'now' });
    rmSync(join(folder, 'jobs.json'));
    const part = await refusal(project, 'c1');
    writeFileSync(join(folder, 'manifest.json'), '{}');
    const manifest = await refusal(project, 'c1');
    rmSync(join(folder, 'manifest.json'));
    const gone = await refusal(project, 'c1');

    for (const { code, hint } of [part, manifest, gone])
      assert.deepEqual([code, hint], ['checkpoint_damaged', 'c3 was rehearsed: svc checkpoint restore c3']);
    assert.match(part.message, /jobs\.json is missing/);
    assert.match(manifest.message, /manifest\.json/);
    assert.deepEqual(rowsOf(project.paths.database, "SELECT value FROM meta WHERE key = 'fact'"), [['now']]);
  });

  it('where its format is of a newer svc, or another tool keeps its database', async (t) => {
    const project = stoppedProject(t);
    await project.make();

    changeManifest(project, (manifest) => {
      manifest.database['external'] = 'backup-7';
    });
    const external = await refusal(project, 'c1');
    changeManifest(project, (manifest) => {
      manifest.format = 'svc.checkpoint/2';
    });
    const newer = await refusal(project, 'c1');

    assert.deepEqual([external.code, external.hint], ['refused', 'restore it with that tool']);
    assert.match(external.message, /is kept by another tool as backup-7/);
    assert.deepEqual(
      [newer.code, newer.hint],
      ['schema_newer', 'Use the svc that made this checkpoint, or a newer one.'],
    );
  });

  it('where the disk has no room for the database twice, with the bytes that are missing', async (t) => {
    const project = stoppedProject(t);
    await project.make();
    const { bavail, bsize } = statfsSync(project.paths.stateDir);
    truncateSync(join(checkpointFolder(project.path, 'c1'), 'data.sqlite'), bavail * bsize); // has holes alone

    const { code, message, hint } = await refusal(project, 'c1');

    assert.equal(code, 'refused');
    assert.match(message, /a restore needs \d+ bytes in .*\.svc, and \d+ are free/);
    assert.match(hint ?? '', /svc checkpoint prune/);
  });

  it('while a host runs, which is named with the command that stops it', async (t) => {
    const project = stoppedProject(t);
    await project.make();
    const request = { project: project.path, environment: {}, name: 'c1', carry: true, open: undefined };
    const { digest } = readRestorePlan(request);
    const owners = ['daemon', 'systemd', 'container'] as const;
    for (const owner of owners) {
      const lock = acquireWriterLock(project.paths, {
        runtimeId: 'r',
        owner,
        mode: 'production',
      });
      assert.ok(identify(process.pid));
      const error: SvcError = await restore({ ...request, digest }).then(
        () => assert.fail('it was restored'),
        (refused) => refused,
      );
      lock.release();

      assert.equal(error.code, 'already_running');
      assert.match(error.hint ?? '', /svc runtime stop/, owner); // which names the command of that owner
    }
  });
});
