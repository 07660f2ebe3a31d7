import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkpointFolder, verificationFile } from '../../../shared/recovery/layout.ts';
import { newestCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';
import type { CommandContext } from '../../../supervisor/cli/command.ts';
import { commands as create } from '../../../supervisor/cli/commands/checkpoint/create.ts';
import { commands as read } from '../../../supervisor/cli/commands/checkpoint/read.ts';
import { checkpointText } from '../../../supervisor/cli/output/checkpoint-text.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

const from = process.cwd();

function commandsOf(t: TestContext) {
  t.after(() => process.chdir(from)); // the commands go to the folder of the project
  const project: StoppedProject = stoppedProject(t);
  const run = async (verb: string, args: readonly string[] = [], options: Record<string, unknown> = {}) => {
    const command = [...create, ...read].find((known) => known.verb === verb);
    assert.ok(command !== undefined);
    const captured = capturedContext('http://127.0.0.1:1', { json: options['json'] === true });
    const context: CommandContext = { ...captured, project: () => project.path };
    const code = await command.run(context, args, options);
    return { code, out: captured.out, notes: captured.notes, document: captured.documents[0] };
  };
  return { project, run };
}

/** Writes a result of two hours ago, as a verification does. */
const noteOf =
  ({ path }: StoppedProject) =>
  (name: string, result: object): void =>
    writeFileSync(
      verificationFile(path, name),
      JSON.stringify({
        at: new Date(Date.now() - 7_200_000).toISOString(),
        ms: 5,
        svc: '1',
        faults: [],
        ...result,
      }),
    );

describe('svc checkpoint', () => {
  it('makes one of a stopped host, lists it and shows what it holds', async (t) => {
    const { run } = commandsOf(t);

    const empty = await run('list');
    const made = await run('create', [], { reason: 'before the move' });
    const listed = await run('list', [], { json: true });
    const table = await run('list');
    const shown = await run('show', ['c1']);

    assert.deepEqual(empty.out, ['no checkpoint yet: svc checkpoint create']);
    assert.match(made.out[0] ?? '', /^c1 made, /);
    const { checkpoints } = listed.document as { checkpoints: Record<string, unknown>[] };
    assert.deepEqual(
      checkpoints.map(({ name, level, reason, fault, verifiedAt }) => [name, level, reason, fault, verifiedAt]),
      [['c1', 'made', 'before the move', null, null]],
    );
    assert.match(table.out[1] ?? '', /^c1 \| \d+ s \| [\d.]+ kB \| made \| before the move$/);
    assert.ok(shown.out.includes('secrets: ["HTTP_TOKEN"]'), shown.out.join('\n'));
  });

  it('tells how far each is proven, by its last verification', async (t) => {
    const { project, run } = commandsOf(t);
    for (const _ of [1, 2, 3]) await project.make();
    await run('create', [], { reason: 'before the move' });
    const fault = `project: plugin shop: cannot be loaded: ${'no such package '.repeat(20)}\n  at import (loader.js:1)`;
    const note = noteOf(project);
    note('c1', { level: 'rehearsed', ok: true });
    note('c2', { level: 'checked', ok: false, isDamaged: true, faults: ['data.sqlite has another digest'] });
    note('c4', { level: 'rehearsed', ok: false, faults: [fault] });
    rmSync(join(checkpointFolder(project.path, 'c3'), 'manifest.json'));

    const { out } = await run('list');
    const shown = await run('show', ['c4']);

    assert.deepEqual(
      out.slice(1).map((line) => line.split(' | ').filter((_, column) => [0, 3, 4].includes(column))),
      [
        ['c4', 'failed 2 h ago', 'before the move; project: plugin shop: cannot be loaded: no such package no…'],
        ['c3', 'damaged', 'its manifest cannot be read'],
        ['c2', 'damaged 2 h ago', 'data.sqlite has another digest'],
        ['c1', 'rehearsed 2 h ago', ''],
      ],
    );
    assert.ok(shown.out.includes(`level: failed: ${fault.replaceAll('\n', '\\n')}`), shown.out.join('\n'));
    await assert.rejects(run('show', ['c3']), { code: 'checkpoint_damaged' });
    await assert.rejects(run('show', ['c9']), { code: 'not_found' });
    await assert.rejects(run('show', ['../c1']), { code: 'usage' });
  });

  it('stands in status: the newest with its level and its fault, and one that failed until a newer one was rehearsed', async (t) => {
    const { project } = commandsOf(t);
    const note = noteOf(project);
    const failure = { level: 'rehearsed', ok: false, faults: ['jobs.json: tea has no target. Add the account.\nmore'] };
    const told: string[] = [];
    const tell = (): void =>
      void told.push(checkpointText(newestCheckpoint(project.path)).replace(/\d+ (s|min) old/, '_ old'));

    tell();
    await project.make();
    tell();
    note('c1', { level: 'rehearsed', ok: true });
    tell();
    await project.make();
    note('c2', failure);
    tell();
    await project.make();
    tell();
    note('c3', { level: 'checked', ok: true });
    tell();
    note('c3', { level: 'rehearsed', ok: true });
    tell();
    rmSync(join(checkpointFolder(project.path, 'c3'), 'manifest.json'));
    tell();

    const failed = '; c2 FAILED: svc checkpoint show c2';
    assert.deepEqual(told, [
      'checkpoint  none: svc checkpoint create',
      'checkpoint  c1, _ old, not verified',
      'checkpoint  c1, _ old, rehearsed 2 h ago',
      'checkpoint  c2, _ old, failed 2 h ago: jobs.json: tea has no target. Add the account.…; the newest good one is c1',
      `checkpoint  c3, _ old, not verified${failed}`,
      `checkpoint  c3, _ old, checked 2 h ago${failed}`,
      'checkpoint  c3, _ old, rehearsed 2 h ago',
      'checkpoint  c3, damaged 2 h ago: its manifest cannot be read; the newest good one is c1',
    ]);
  });
});
