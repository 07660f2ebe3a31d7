// What `svc doctor` and `svc runtime status` say of a release that has not ended.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import { type ReleaseState, releaseFolder, writeRelease } from '../../../shared/recovery/release-record.ts';
import type { Subject } from '../../../supervisor/cli/doctor/check.ts';
import { RELEASE_CHECK } from '../../../supervisor/cli/doctor/recovery/release-check.ts';
import { readOpenRelease, releaseLines } from '../../../supervisor/cli/output/release-text.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const DAY_MS = 86_400_000;

function projectWith(t: Cleanup, steps: readonly ReleaseState[], ageMs: number) {
  const project = temporaryProject(t);
  const record = releaseRecord({ steps, begunAt: Date.now() - ageMs, windowUntil: '2026-01-05T12:00:00.000Z' });
  if (steps.length > 0) writeRelease(project.path, record);
  const config = loadConfig({ project: project.path, mode: 'production', environment: project.env });
  const check = async () => RELEASE_CHECK.run({ paths: project.paths, config } as Subject);
  const break_ = (): void => writeFileSync(join(releaseFolder(project.path, 'r1'), 'record.json'), '[]');
  return { check, break: break_, lines: async () => releaseLines(await readOpenRelease(project.path)) };
}

describe('release.open of svc doctor', () => {
  it('warns of one older than two windows, with the next command', async (t) => {
    const young = await projectWith(t, ['begun', 'checked'], DAY_MS).check();
    const old = await projectWith(t, ['begun', 'checked'], 3 * DAY_MS).check();

    assert.equal(young.status, 'ok');
    assert.equal(old.status, 'warn');
    assert.match(old.reason, /^r1 began .* ago and is checked$/);
    assert.equal(old.fix, 'svc release start; svc release rollback goes back');
  });

  it('is content without a release, and with ended ones', async (t) => {
    assert.equal((await projectWith(t, [], 0).check()).status, 'ok');
    assert.equal((await projectWith(t, ['begun', 'rolled_back'], 9 * DAY_MS).check()).status, 'ok');
  });

  it('fails where the record cannot be read', async (t) => {
    const project = projectWith(t, ['begun'], 0);
    project.break();

    const { status, reason } = await project.check();

    assert.equal(status, 'error');
    assert.match(reason, /record\.json/);
  });
});

describe('the line of an open release in svc runtime status', () => {
  it('names state and next command, and is left out without an open release', async (t) => {
    const project = projectWith(t, ['begun', 'checked', 'started', 'accepted', 'observing'], 0);

    assert.deepEqual(await project.lines(), [
      'release     r1 observing, window until 2026-01-05T12:00:00.000Z, next: svc release finish',
    ]);
    assert.deepEqual(await projectWith(t, ['begun', 'finished'], 0).lines(), []);
    assert.deepEqual(await projectWith(t, [], 0).lines(), []);
    project.break();
    assert.match((await project.lines())[0] ?? '', /^release {5}cannot be read: .*record\.json/);
  });
});
