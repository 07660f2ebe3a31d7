import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkpointFolder, verificationFile } from '../../../shared/recovery/layout.ts';
import { pruneCheckpoints } from '../../../worker/recovery/checkpoint/remove-checkpoints.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';

const RULES = { keepLast: 1, keepDays: 0, keepWeeks: 0, maxBytes: 1_000_000_000 };

describe('removing checkpoints', () => {
  it('removes the folder, its verification, and stored files that no other needs', async (t) => {
    const project = stoppedProject(t);
    const files = (): string[] => readdirSync(join(project.paths.checkpointsDir, 'files')).sort();
    await project.make();
    writeFileSync(verificationFile(project.path, 'c1'), '{}');
    const bytes = Buffer.from('of nobody');
    const unnamed = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(project.paths.mediaDir, unnamed), bytes); // no row names it
    await project.make();
    assert.deepEqual(files(), [unnamed, project.media].sort());

    const dry = await pruneCheckpoints({ project: project.path, rules: RULES, isDry: true });
    assert.ok(existsSync(checkpointFolder(project.path, 'c1')), 'a dry run removes nothing');
    const pruned = await pruneCheckpoints({ project: project.path, rules: RULES });

    assert.deepEqual([dry.removed, pruned.removed, pruned.kept], [['c1'], ['c1'], ['c2']]);
    assert.deepEqual(readdirSync(project.paths.checkpointsDir).sort(), ['c2', 'files']);
    assert.deepEqual(files(), [project.media]);
  });

  it('keeps what an open release names, and all stored files beside a manifest that cannot be read', async (t) => {
    const project = stoppedProject(t);
    for (const _ of [1, 2, 3]) await project.make();
    const release = join(project.paths.releasesDir, 'r1');
    mkdirSync(release, { recursive: true });
    const record = (state: string): void =>
      writeFileSync(join(release, 'record.json'), JSON.stringify({ state, restorePoint: 'c1' }));
    record('observing');
    const shared = join(project.paths.checkpointsDir, 'files', 'f'.repeat(64));
    writeFileSync(shared, '');
    rmSync(join(checkpointFolder(project.path, 'c1'), 'manifest.json'));

    assert.deepEqual((await pruneCheckpoints({ project: project.path, rules: RULES })).removed, ['c2']);
    assert.ok(existsSync(shared));
    record('finished');

    assert.deepEqual((await pruneCheckpoints({ project: project.path, rules: RULES })).removed, ['c1']);
    assert.ok(!existsSync(shared));
  });
});
