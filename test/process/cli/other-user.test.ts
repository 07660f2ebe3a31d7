// Root on the project of another user: no command leaves a file that the host of that user could not use.
import assert from 'node:assert/strict';
import { chownSync, lchownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeRelease } from '../../../shared/recovery/release-record.ts';
import { OTHER_USER } from '../../support/owners/other-user.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';
import { svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const skip = process.getuid?.() === 0 ? giveMissing() : 'only root can write into the folders of others';

/** Root of a user namespace may have no such user to give a file to. */
function giveMissing(): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'svc-given-'));
  try {
    chownSync(folder, OTHER_USER, OTHER_USER);
    return false;
  } catch (error) {
    return `no file can be given to user ${OTHER_USER}: ${(error as Error).message}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const entriesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

const ofRoot = (folder: string): readonly string[] => entriesOf(folder).filter((path) => lstatSync(path).uid === 0);

function give(folder: string): void {
  chownSync(folder, OTHER_USER, OTHER_USER);
  for (const path of entriesOf(folder)) lchownSync(path, OTHER_USER, OTHER_USER);
}

describe('a command of root in the project of another user', { skip, concurrency: 3 }, () => {
  it('that would write its state is refused, with the user to run it as, and leaves nothing', async (t) => {
    const project = stoppedProject(t);
    const name = await project.make();
    give(project.path);
    for (const lock of [project.paths.recoveryLock, project.paths.writerLock]) rmSync(lock); // the next command makes them
    const before = entriesOf(project.path).toSorted();

    const refused = await Promise.all(
      [
        ['release', 'begin', '--from', '/tmp'],
        ['release', 'check', '--from', '/tmp'],
        ['release', 'rollback'],
        ['accept'],
        ['checkpoint', 'create'],
        ['checkpoint', 'verify', name],
        ['checkpoint', 'verify', name, '--quick'],
        ['checkpoint', 'prune'],
        ['checkpoint', 'import', 'c1.tar.gz'],
        ['checkpoint', 'restore', name, '--yes', '--plan', '0'],
        ['checkpoint', 'restore', name, '--dry-run'],
        ['jobs', 'pause', 'a'],
        ['ingress', 'pause'],
      ].map(async (words) => {
        const { code, stderr } = await svc([...words, '--project', project.path]);
        return [words.join(' '), code, /belongs to (\w+)/.exec(stderr)?.[1] ?? stderr];
      }),
    );

    assert.deepEqual(
      refused.filter(([, code, owner]) => code === 0 || !['nobody', 'user'].includes(String(owner))),
      [],
    );
    assert.deepEqual(ofRoot(project.path), []);
    assert.deepEqual(entriesOf(project.path).toSorted(), before);
  });

  it('that reads it leaves nothing of root either', async (t) => {
    const project = stoppedProject(t);
    await project.make();
    const steps = ['begun', 'checked', 'started', 'accepted', 'observing'] as const;
    writeRelease(project.path, releaseRecord({ steps, begunAt: Date.now() - 3_600_000 }));
    give(project.path);

    for (const [expected, ...words] of [
      [1, 'ingress', 'status'], // would open the state as its host does: refused
      [0, 'inbox', 'list'],
      [0, 'checkpoint', 'list'],
      [0, 'release', 'status'],
      [0, 'release', 'history'],
      [1, 'jobs', 'list'], // its file of jobs has a fault
      [3, 'runtime', 'status'], // nothing runs
      [1, 'doctor', '--only', 'state.folder,database.integrity,database.schema'], // the folder is of another user
    ] as const) {
      const { code, stderr } = await svc([...words, '--project', project.path]);
      assert.equal(code, expected, `${words.join(' ')}: ${stderr}`);
    }
    assert.deepEqual(ofRoot(project.path), []);
  });

  it('makes no folder of root in one that has never run', async (t) => {
    const { path } = temporaryProject(t);
    mkdirSync(join(path, 'data'));
    give(path);

    const added = await svc([
      'jobs',
      'add',
      'tea',
      '--every',
      '1h',
      '--command',
      '/tea',
      '--to',
      'echo:c',
      '--project',
      path,
    ]);
    const imported = await svc(['checkpoint', 'import', 'c1.tar.gz', '--project', path]);

    assert.deepEqual([added.code === 0, imported.code === 0], [false, false]);
    assert.match(added.stderr, /sudo -u /);
    assert.deepEqual(ofRoot(path), []);
  });
});
