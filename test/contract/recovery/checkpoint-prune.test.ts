import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkpointFolder, verificationFile } from '../../../shared/recovery/layout.ts';
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { pruneCheckpoints } from '../../../worker/recovery/checkpoint/remove-checkpoints.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';

const RULES = { keepLast: 1, keepDays: 0, keepWeeks: 0, maxBytes: 1_000_000_000, replacedDays: 7 };
const NOW = Date.parse('2026-01-10T12:00:00Z');

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

    const dry = await pruneCheckpoints({ project: project.path, rules: RULES, now: NOW, isDry: true });
    assert.ok(existsSync(checkpointFolder(project.path, 'c1')), 'a dry run removes nothing');
    const pruned = await pruneCheckpoints({ project: project.path, rules: RULES, now: NOW });

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

    assert.deepEqual((await pruneCheckpoints({ project: project.path, rules: RULES, now: NOW })).removed, ['c2']);
    assert.ok(existsSync(shared));
    record('finished');

    assert.deepEqual((await pruneCheckpoints({ project: project.path, rules: RULES, now: NOW })).removed, ['c1']);
    assert.ok(!existsSync(shared));
  });

  it('removes old replaced states before checkpoints, and none while a switch is pending', async (t) => {
    const project = stoppedProject(t);
    for (const _ of [1, 2]) await project.make();
    const { replacedDir, pendingSwitch } = project.paths;
    const state = (name: string, record: object | undefined): void => {
      mkdirSync(join(replacedDir, name), { recursive: true });
      writeFileSync(join(replacedDir, name, 'data.sqlite'), Buffer.alloc(1_000_000));
      if (record !== undefined) writeFileSync(join(replacedDir, name, 'replaced.json'), JSON.stringify(record));
    };
    state('s1', { name: 's1', at: '2026-01-03T11:59:59Z' });
    state('s2', { name: 's2', at: '2026-01-03T12:00:01Z' });
    state('s3', undefined);
    state('s4', { name: 's4', at: 'long ago' });
    state('s9.part', undefined); // left by a kill
    const checkpointBytes = storedCheckpoints(project.path).reduce((sum, { bytes }) => sum + bytes, 0);
    const maxBytes = checkpointBytes + 3_500_000; // too few for both checkpoints beside four states
    const options = { project: project.path, now: NOW, rules: { ...RULES, keepLast: 3, maxBytes } };

    writeFileSync(pendingSwitch, '{}');
    assert.deepEqual((await pruneCheckpoints({ ...options, isDry: true })).replaced, []);
    rmSync(pendingSwitch);
    const dry = await pruneCheckpoints({ ...options, isDry: true });
    assert.ok(existsSync(join(replacedDir, 's1')), 'a dry run removes nothing');
    const pruned = await pruneCheckpoints(options);

    assert.deepEqual([dry.replaced, pruned.replaced, pruned.removed], [['s1'], ['s1'], []]);
    assert.ok(pruned.bytes >= 1_000_000);
    assert.deepEqual(readdirSync(replacedDir).sort(), ['s2', 's3', 's4']);
    const none = { ...options, rules: { ...options.rules, replacedDays: 0 } };
    const soon = Date.parse('2026-01-03T12:30:00Z'); // its restore may be under way
    assert.deepEqual((await pruneCheckpoints({ ...none, now: soon })).replaced, []);
    assert.deepEqual((await pruneCheckpoints(none)).replaced, ['s2']);
  });
});
