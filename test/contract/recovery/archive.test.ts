// An archive holds the whole checkpoint and nothing that was erased, and comes back the same: plain, by passphrase, by key, and by the program age.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Key, Lock } from '../../../worker/recovery/archive/age.ts';
import { exportCheckpoint } from '../../../worker/recovery/archive/export.ts';
import { importCheckpoint } from '../../../worker/recovery/archive/import.ts';
import { lockRecovery } from '../../../worker/recovery/checkpoint/lock.ts';
import { verifyCheckpoint } from '../../../worker/task.ts';
import {
  checkpointOf,
  filesBelow,
  partFile,
  rehash,
  sha256,
  stoppedWorkroom,
  workroomWithCheckpoint,
} from '../../support/recovery/workroom-state.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { withFile } from '../../support/workroom/room.ts';

const PASSPHRASE = 'four words of my own';
const HAS_AGE = spawnSync('age', ['--version']).status === 0;
const SKIP_AGE = HAS_AGE ? false : 'the program age is not installed';

const withCheckpoint = workroomWithCheckpoint();

const exported = (
  project: TemporaryProject,
  { to = project.path, ...more }: { lock?: Lock; to?: string; patienceMs?: number } = {},
) => exportCheckpoint({ project: project.path, environment: project.env, name: 'c1', to, ...more });

const imported = (project: TemporaryProject, file: string, key?: Key) =>
  importCheckpoint({ project: project.path, environment: project.env, file, key });

const refused = (code: string, says: RegExp) => (error: unknown) =>
  error instanceof SvcError && error.code === code && says.test(`${error.message} ${error.hint}`);

describe('an archive of a checkpoint', () => {
  it('is a tar archive with the manifest first, readable by its owner alone, the same each time', async (t) => {
    const project = await withCheckpoint(t);
    const { file, manifest, isReadBack } = await exported(project);
    assert.equal(file, join(project.path, 'svc-team-c1.tar.gz'));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(isReadBack, true);
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n');
    assert.equal(names[0], 'manifest.json');
    assert.deepEqual(
      names.slice(1).toSorted(),
      readManifest(checkpointFolder(project.path, 'c1'))
        .parts.map(({ path }) => path)
        .toSorted(),
    );
    const text = execFileSync('tar', ['-xzOf', file, 'manifest.json']);
    assert.equal(sha256(text), manifest);
    const again = await exported(project, { to: join(project.path, 'again.tar.gz') });
    assert.deepEqual(readFileSync(again.file), readFileSync(file));
    assert.deepEqual(readdirSync(project.paths.checkpointsDir).toSorted(), ['c1', 'files']);
  });

  it('comes back as a checkpoint with the same parts in a project without state', async (t) => {
    const project = await withCheckpoint(t);
    const other = temporaryProject(t);
    const { file, manifest } = await exported(project);
    const { name, sha256: found } = await imported(other, file);
    assert.deepEqual([name, found], ['c1', manifest]);
    const folder = checkpointFolder(other.path, name);
    const taken = readManifest(folder);
    for (const { path, bytes, sha256: hash } of taken.parts) {
      const part = readFileSync(partFile(other.path, name, path));
      assert.deepEqual([part.length, sha256(part)], [bytes, hash], path);
      if (path !== 'data.sqlite') assert.deepEqual(part, readFileSync(partFile(project.path, 'c1', path)));
    }
    const { faults } = await verifyCheckpoint({ project: other.path, environment: other.env, name });
    assert.deepEqual(faults, []);
    const before = readManifest(checkpointFolder(project.path, 'c1'));
    assert.deepEqual({ ...taken, parts: [], imported: undefined }, { ...before, parts: [], imported: undefined });
    assert.deepEqual(
      filesBelow(folder).toSorted(),
      ['manifest.json', ...taken.parts.map(({ path }) => path).filter((path) => !path.startsWith('files/'))].toSorted(),
    );
  });

  it('holds no text that was erased from the database', async (t) => {
    const project = await withCheckpoint(t);
    const erased = 'the words that somebody asked to be forgotten';
    withFile(join(checkpointFolder(project.path, 'c1'), 'data.sqlite'), (database) => {
      database.exec(
        `CREATE TABLE gone (text TEXT); INSERT INTO gone VALUES ('${erased}'); DELETE FROM gone; DROP TABLE gone`,
      );
    });
    assert.ok(readFileSync(join(checkpointFolder(project.path, 'c1'), 'data.sqlite')).includes(erased));
    rehash(project.path, 'c1');
    const { file } = await exported(project);
    assert.equal(gunzipSync(readFileSync(file)).includes(erased), false);
    assert.ok(gunzipSync(readFileSync(file)).includes('Home page'));
  });

  it('takes long names, and content that shrinks more than an import would believe', async (t) => {
    const project = await stoppedWorkroom(t);
    const long = `plugins/${'a-long-name-of-a-folder/'.repeat(10)}${'x'.repeat(120)}.js`;
    project.write(long, 'export default 1;\n');
    project.write('zeros.bin', '\0'.repeat(12 * 1_048_576));
    await checkpointOf(project);
    const { file } = await exported(project);
    const other = temporaryProject(t);
    await imported(other, file);
    assert.equal(
      readFileSync(join(checkpointFolder(other.path, 'c1'), 'project', long), 'utf8'),
      'export default 1;\n',
    );
  });

  it('replaces no file, and is not made of a damaged checkpoint', async (t) => {
    const project = await withCheckpoint(t);
    const { file } = await exported(project);
    await assert.rejects(exported(project), refused('refused', /is there already/));
    rmSync(file);
    writeFileSync(join(checkpointFolder(project.path, 'c1'), 'jobs.json'), '{}');
    await assert.rejects(exported(project), refused('checkpoint_damaged', /jobs\.json/));
    await assert.rejects(
      exportCheckpoint({ project: project.path, environment: project.env, name: 'c9', to: project.path }),
      refused('not_found', /c9/),
    );
    const to = join(project.path, 'nowhere', 'a.tar.gz');
    await assert.rejects(
      exportCheckpoint({ project: project.path, environment: project.env, name: 'c1', to }),
      refused('refused', /nowhere cannot be written: .*--to FILE/s),
    );
    assert.deepEqual(
      readdirSync(project.path).filter((name) => name.includes('tar')),
      [],
    );
  });

  it('is not made while another process makes or removes checkpoints', async (t) => {
    const project = await withCheckpoint(t);
    const lock = lockRecovery(project.path);

    await assert.rejects(exported(project, { patienceMs: 0 }), refused('conflict', /another process/));
    lock.release();
    await exported(project);
  });

  it('is not taken where another project has its state, but beside the same one', async (t) => {
    const project = await withCheckpoint(t);
    const { file } = await exported(project);
    assert.equal((await imported(project, file)).name.startsWith('c'), true);
    const other = await stoppedWorkroom(t);
    await assert.rejects(imported(other, file), refused('checkpoint_foreign', /folder without state/));
    assert.deepEqual(
      filesBelow(other.path).filter((name) => name.startsWith('.svc/checkpoints')),
      [],
    );
  });

  it('opens by its passphrase alone, and is read back before it is done', async (t) => {
    const project = await withCheckpoint(t);
    const { file, isReadBack, encrypted } = await exported(project, {
      lock: { passphrase: PASSPHRASE, workFactor: 10 },
    });
    assert.deepEqual([file.endsWith('svc-team-c1.tar.gz.age'), isReadBack, encrypted], [true, true, true]);
    const other = temporaryProject(t);
    await assert.rejects(imported(other, file), refused('archive_refused', /is encrypted .*--passphrase-file/));
    await assert.rejects(
      imported(other, file, { passphrase: 'another one that is long' }),
      refused('archive_refused', /another key/),
    );
    assert.equal((await imported(other, file, { passphrase: PASSPHRASE })).name, 'c1');
    rmSync(file);
    await assert.rejects(
      exported(project, { lock: { passphrase: 'short' } }),
      refused('invalid_request', /10 characters/),
    );
    await assert.rejects(
      exported(project, { lock: { recipients: ['age1no'] } }),
      refused('invalid_request', /no key of age/),
    );
  });

  it('goes both ways with the program age', { skip: SKIP_AGE }, async (t) => {
    const project = await withCheckpoint(t);
    const key = join(project.path, 'key.txt');
    execFileSync('age-keygen', ['-o', key], { stdio: 'ignore' });
    const text = readFileSync(key, 'utf8');
    const [recipient = ''] = /age1\w+/.exec(text) ?? [];
    const [identity = ''] = /AGE-SECRET-KEY-1\w+/.exec(text) ?? [];
    const { file, isReadBack } = await exported(project, { lock: { recipients: [recipient] } });
    assert.equal(isReadBack, false);
    const plain = join(project.path, 'plain.tar.gz');
    execFileSync('age', ['-d', '-i', key, '-o', plain, file]);
    assert.equal(execFileSync('tar', ['-tzf', plain], { encoding: 'utf8' }).startsWith('manifest.json\n'), true);
    const again = join(project.path, 'again.tar.gz.age');
    execFileSync('age', ['-r', recipient, '-o', again, plain]);
    for (const archive of [file, again]) {
      const other = temporaryProject(t);
      assert.equal((await imported(other, archive, { identities: [identity] })).name, 'c1');
    }
    const changed = readFileSync(file);
    changed[changed.length - 40] = (changed[changed.length - 40] ?? 0) ^ 1;
    writeFileSync(again, changed);
    await assert.rejects(
      imported(temporaryProject(t), again, { identities: [identity] }),
      refused('archive_refused', /cannot be decrypted/),
    );
    const armored = join(project.path, 'armored.age');
    execFileSync('age', ['-a', '-r', recipient, '-o', armored, plain]);
    await assert.rejects(
      imported(temporaryProject(t), armored, { identities: [identity] }),
      refused('archive_refused', /text form/),
    );
  });
});
