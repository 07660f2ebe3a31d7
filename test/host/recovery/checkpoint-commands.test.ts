// `svc checkpoint verify`, `export` and `import` as an operator types them, without a host.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readVerification, type Verification } from '../../../shared/recovery/stored-checkpoints.ts';
import { commands as archives } from '../../../supervisor/cli/commands/checkpoint/archive.ts';
import { command as verify } from '../../../supervisor/cli/commands/checkpoint/verify.ts';
import { parseCommand } from '../../../supervisor/cli/program.ts';
import { commandContext, runCommand } from '../../support/commands/command-context.ts';
import { partFile, rehash, workroomWithCheckpoint } from '../../support/recovery/workroom-state.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

const [exportIt = verify, importIt = verify] = archives;
const withCheckpoint = workroomWithCheckpoint();
const inProject = ({ path, env }: TemporaryProject) => ({ cwd: path, env });

async function texts(command: typeof verify, words: readonly string[], project: TemporaryProject) {
  const { context, output } = commandContext(inProject(project));
  const { args, options } = parseCommand(command, words);
  const code = await command.run(context, args, options);
  return { code, text: output.texts.join('\n'), notes: output.notes.join('\n') };
}

describe('svc checkpoint verify', () => {
  it('exits 0 for a good one, and 1 with each fault and what to do', async (t) => {
    const project = await withCheckpoint(t);
    const { code, document } = await runCommand(verify, ['c1', '--quick'], inProject(project));
    assert.deepEqual([code, (document as { level: string }).level], [0, 'checked']);
    assert.match((await texts(verify, ['c1'], project)).text, /^c1 rehearsed, \d+\.\d s: no fault$/);
    writeFileSync(partFile(project.path, 'c1', 'jobs.json'), '{}');
    const bad = await texts(verify, ['c1'], project);
    assert.equal(bad.code, 1);
    assert.match(bad.text, /^c1 cannot be relied on:\n {2}jobs\.json: has 2 bytes.*Restore another checkpoint\.$/);
    assert.match(bad.notes, /No other checkpoint was verified/);
  });
});

describe('svc checkpoint verify of the state alone', () => {
  it('asks nothing of code that this svc does not understand, and keeps no result', async (t) => {
    const project = await withCheckpoint(t);
    appendFileSync(partFile(project.path, 'c1', 'project/svc.config.yml'), '\nkeyOfBefore: 1\n');
    rehash(project.path, 'c1');

    const alone = await runCommand(verify, ['c1', '--state'], inProject(project));
    const kept = readVerification(project.path, 'c1');
    const whole = await texts(verify, ['c1'], project);
    writeFileSync(partFile(project.path, 'c1', 'jobs.json'), '{}');
    rehash(project.path, 'c1');
    const wrong = await texts(verify, ['c1', '--state'], project);

    const { level, schema, faults } = alone.document as Verification;
    assert.deepEqual([alone.code, level, typeof schema, faults], [0, 'rehearsed', 'number', []]);
    assert.equal(kept, undefined);
    assert.match(whole.text, /project\/svc\.config\.yml: .* is not a key here/);
    assert.match(wrong.text, /^c1 cannot be relied on:\n {2}jobs\.json: /);
  });
});

describe('svc checkpoint export and import', () => {
  it('carry a checkpoint to another project, with the manifest that was noted', async (t) => {
    const project = await withCheckpoint(t);
    const { text, notes } = await texts(exportIt, ['c1'], project);
    assert.match(text, /^c1 in .*svc-team-c1\.tar\.gz, .* read back\nmanifest [0-9a-f]{64}\n/);
    assert.match(notes, /not encrypted, and holds the messages of people/);
    const [, manifest = ''] = /manifest ([0-9a-f]{64})/.exec(text) ?? [];
    const other = temporaryProject(t);
    const file = join(project.path, 'svc-team-c1.tar.gz');
    const { code, document } = await runCommand(importIt, [file, '--expect', manifest], inProject(other));
    assert.equal(code, 0);
    assert.deepEqual(
      [(document as { name: string }).name, (document as { manifest: string }).manifest],
      ['c1', manifest],
    );
    await assert.rejects(runCommand(importIt, [file, '--expect', 'f'.repeat(64)], inProject(other)), /expected was/);
    await assert.rejects(runCommand(importIt, [file, '--expect', 'abc'], inProject(other)), /--expect takes 64/);
    await assert.rejects(runCommand(importIt, ['nothing.tar.gz'], inProject(other)), /there is no file/);
  });

  it('take the passphrase from a file, and never both a passphrase and a key', async (t) => {
    const project = await withCheckpoint(t);
    project.write('pass.txt', 'four words of my own\n');
    project.write('key.txt', '# a comment\nAGE-SECRET-KEY-1NO\n');
    const words = ['c1', '--to', 'here.age', '--passphrase-file', 'pass.txt'];
    assert.equal((await runCommand(exportIt, words, inProject(project))).code, 0);
    assert.match(readFileSync(join(project.path, 'here.age'), 'latin1'), /^age-encryption\.org\/v1\n-> scrypt /);
    const file = join(project.path, 'here.age');
    const both = [file, '--passphrase-file', 'pass.txt', '--identity-file', 'key.txt'];
    await assert.rejects(runCommand(importIt, both, inProject(project)), /not both/);
    await assert.rejects(
      runCommand(importIt, [file, '--identity-file', 'key.txt'], inProject(project)),
      /no key of age/,
    );
    await assert.rejects(
      runCommand(exportIt, ['c1', '--passphrase-file', 'gone.txt'], inProject(project)),
      /gone\.txt is not there/,
    );
  });
});
