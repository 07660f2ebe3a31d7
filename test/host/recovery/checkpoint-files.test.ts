// Files of a checkpoint and of the project beside it: too much code, stored files, prints of secrets, hashes alone, what differs now.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { readVerification, storedCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';
import { planLines } from '../../../supervisor/cli/output/restore-text.ts';
import { keepFile } from '../../../worker/recovery/checkpoint/copied-files.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { LARGEST_CODE_BYTES } from '../../../worker/recovery/checkpoint/project-files.ts';
import { readRestorePlan } from '../../../worker/recovery/restore/restore.ts';
import { verifyCheckpoint } from '../../../worker/task.ts';
import { smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { gitIn } from '../../support/git-repository.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';
import { partFile, rehash, workroomWithCheckpoint } from '../../support/recovery/workroom-state.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const withCheckpoint = workroomWithCheckpoint();

const planOf = ({ path }: StoppedProject) =>
  readRestorePlan({ project: path, environment: {}, name: 'c1', carry: true, open: undefined });

/** Sparse: it takes no room. */
function writeLarge({ path, write }: StoppedProject): void {
  write('model.bin', '');
  truncateSync(join(path, 'model.bin'), LARGEST_CODE_BYTES);
}

const ALONE = ['project/package-lock.json', 'project/package.json', 'project/svc.config.yml'];

describe('a checkpoint of more than 64 MiB of code', () => {
  const make = async ({ path }: StoppedProject) => {
    const { manifest, warnings } = await makeStopped({ project: path, environment: {}, reason: null });
    return {
      commit: manifest.commit,
      warnings,
      code: manifest.parts.map(({ path: of }) => of).filter((of) => of.startsWith('project/')),
    };
  };

  it('holds its commit in place of the code, and says so', async (t) => {
    const project = stoppedProject(t);
    const git = gitIn(project.path, temporaryProject(t, { config: null }).path);
    project.write('.gitignore', '.svc\ndata\n.env\n');
    project.write('model.bin', '');
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'first');
    writeLarge(project);

    const { commit, code, warnings } = await make(project);

    const id = git('rev-parse', 'HEAD');
    assert.deepEqual([commit, code], [{ id, dirty: true }, ALONE]);
    assert.deepEqual(warnings, [
      `the code has 65 MiB, of which a checkpoint keeps 64; only its commit ${id.slice(0, 12)} is kept`,
    ]);
  });

  it('holds none of it without git, and says what helps', async (t) => {
    const project = stoppedProject(t);
    writeLarge(project);

    const { commit, code, warnings } = await make(project);

    assert.deepEqual([commit, code], [null, ALONE]);
    assert.deepEqual(warnings, [
      'the code has 65 MiB, of which a checkpoint keeps 64; it is not in this checkpoint: put the project under git, or keep large files in data/',
    ]);
  });
});

describe('a stored file', () => {
  const stored = (folder: string) => {
    const bytes = Buffer.from('a picture');
    const name = createHash('sha256').update(bytes).digest('hex');
    const [from, shared] = [join(folder, 'media'), join(folder, 'files')];
    for (const one of [from, shared]) mkdirSync(one);
    writeFileSync(join(from, name), bytes);
    return { from, shared, name, bytes };
  };

  it('is kept as a hard link, which takes no room', async (t) => {
    const { from, shared, name } = stored(temporaryProject(t).path);

    assert.equal(await keepFile(from, { shared, name }), true);

    assert.equal(statSync(join(shared, name)).ino, statSync(join(from, name)).ino);
    assert.deepEqual(readdirSync(shared), [name]);
  });

  it('is copied to another file system, which takes no link of it', { skip: smallDiskMissing() }, async (t) => {
    const { path } = temporaryProject(t);
    const { from, shared, name, bytes } = stored(path);
    smallDisk(t, shared, { kilobytes: 64 });

    assert.equal(await keepFile(from, { shared, name }), true);

    assert.deepEqual(readFileSync(join(shared, name)), bytes);
    assert.deepEqual([statSync(join(from, name)).nlink, readdirSync(shared)], [1, [name]]);
  });
});

describe('the print of a secret', () => {
  it('tells that its value changed, and nothing where the key of the prints is not there', async (t) => {
    const env = { SHOP_TOKEN: 'a-token-of-the-shop-0123456789' };
    const project = stoppedProject(t, { env });
    await project.make();
    project.write('.env', project.read('.env').replace(env.SHOP_TOKEN, 'another-token-of-the-shop-987654'));
    const told = () => {
      const plan = planOf(project);
      return [
        plan.secrets,
        planLines(plan, Date.now())
          .find((line) => line.startsWith('SECRETS'))
          ?.replace(/^SECRETS +/, ''),
      ];
    };

    const names = readManifest(checkpointFolder(project.path, 'c1')).secrets.map(({ name }) => name);
    const here = told();
    rmSync(project.paths.linkKey);

    assert.deepEqual(names, ['HTTP_TOKEN', 'SHOP_TOKEN']);
    assert.deepEqual(here, [['SHOP_TOKEN'], 'SHOP_TOKEN changed since']);
    assert.deepEqual(told(), [null, 'nobody can tell whether they have changed']);
  });
});

describe('a check of hashes alone', () => {
  it('takes no rehearsal of the same bytes away, neither a good one nor its fault, unless they are wrong', async (t) => {
    const { path, env } = await withCheckpoint(t);
    const verify = async (quick: boolean) => {
      const { level, ok } = await verifyCheckpoint({ project: path, environment: env, name: 'c1', quick });
      return [level, ok];
    };
    const stored = () => readVerification(path, 'c1');
    const level = () => storedCheckpoint(path, 'c1')?.level;
    const writeJobs = (text: string): void => writeFileSync(partFile(path, 'c1', 'jobs.json'), text);

    assert.deepEqual([await verify(true), level()], [['checked', true], 'checked']);
    assert.deepEqual([await verify(false), level()], [['rehearsed', true], 'rehearsed']);
    const good = stored();
    assert.deepEqual([await verify(true), stored()], [['checked', true], good]);
    rehash(path, 'c1', { reason: 'another manifest' });
    assert.deepEqual([await verify(true), level()], [['checked', true], 'checked']);

    writeJobs('{"version": 1, "revision": 3, "jobs": [{"id": "A b"}]}');
    rehash(path, 'c1');
    assert.deepEqual([await verify(false), level()], [['rehearsed', false], 'failed']);
    const failed = stored();
    assert.deepEqual([await verify(true), stored()], [['checked', true], failed]);
    writeJobs('{}');
    assert.deepEqual([await verify(true), level()], [['checked', false], 'damaged']);
  });
});

describe('the plan of a restore', () => {
  it('tells what the files of the project are now, and which keys of the configuration differ, without a value', async (t) => {
    const project = stoppedProject(t, { config: { log_level: 'info', inbox: { bodyDays: 7 } } });
    await project.make();
    const changed = project.read('svc.config.yml').replace('info', 'debug').replace('bodyDays: 7', 'bodyDays: 9');
    project.write('svc.config.yml', `${changed}outbox: { days: 5 }\n`);
    const outside = planOf(project);
    const git = gitIn(project.path, temporaryProject(t, { config: null }).path);
    git('init', '-q');
    git('add', 'package.json');
    git('commit', '-qm', 'first');
    const inside = planOf(project);
    rmSync(join(checkpointFolder(project.path, 'c1'), 'project/svc.config.yml'));

    assert.deepEqual([outside.commit, inside.commit], [null, git('rev-parse', 'HEAD')]);
    assert.deepEqual([inside.digest, inside.isBreaking], [outside.digest, false]);
    const keys = ['inbox.bodyDays', 'log_level', 'outbox'];
    assert.deepEqual([inside.isConfigSame, inside.configKeys], [false, keys]);
    assert.match(
      planLines(inside, Date.now())[1] ?? '',
      new RegExp(
        `^now +commit ${inside.commit?.slice(0, 12)}, schema \\d{4}, svc.config.yml differs: ${keys.join(', ')}; it stays`,
      ),
    );
    assert.equal(planOf(project).configKeys, null);
  });
});
