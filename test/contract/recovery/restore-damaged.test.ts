// A restore point whose database is damaged: the answer names the file, what is wrong, and what to do. The present state stays.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import type { SvcError } from '../../../shared/svc-error.ts';
import { type RestoreRequest, readRestorePlan, restore } from '../../../worker/recovery/restore/restore.ts';
import { insert, item, withDatabase } from '../../support/recovery/changed-rows.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

const SINGLE = 'x'.repeat(3_000);

async function withCheckpoint(t: TestContext): Promise<StoppedProject> {
  const project = stoppedProject(t);
  withDatabase(project.paths.database, (database) => {
    for (let index = 0; index < 40; index += 1) insert(database, 'inbox', item(`i${index}`, { body: SINGLE }));
  });
  await project.make();
  project.store({ fact: 'now' });
  return project;
}

const requestOf = ({ path }: StoppedProject, name: string | undefined): RestoreRequest => ({
  project: path,
  environment: {},
  name,
  carry: true,
  open: undefined,
});

async function restored(project: StoppedProject, name: string | undefined): Promise<void> {
  const request = requestOf(project, name);
  await restore({ ...request, digest: readRestorePlan(request).digest });
}

const fill = (file: string, from: number, bytes: number): void => {
  const content = readFileSync(file);
  content.fill(0x5a, from, from + bytes);
  writeFileSync(file, content);
};

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'begins with other bytes': (file) => fill(file, 0, 4_096),
  'has other bytes in the middle': (file) => fill(file, 8_192, 400_000),
  'has other bytes in one table': (file) => fill(file, readFileSync(file).indexOf(SINGLE) - 200, 8_000),
  'is empty': (file) => writeFileSync(file, ''),
  'is cut short': (file) => writeFileSync(file, readFileSync(file).subarray(0, 10_000)),
  'is of another program': (file) => {
    rmSync(file);
    const database = new Sqlite(file);
    database.exec('CREATE TABLE notes (text TEXT)');
    database.close();
  },
  'is gone': (file) => rmSync(file),
};

describe('a restore point whose database', () => {
  for (const [what, damage] of Object.entries(DAMAGES))
    it(`${what} is refused by file and reason, and the present state stays`, async (t) => {
      const project = await withCheckpoint(t);
      const file = join(project.paths.checkpointsDir, 'c1/data.sqlite');
      damage(file);
      const before = readFileSync(project.paths.database);

      await assert.rejects(restored(project, 'c1'), (error: SvcError) => {
        assert.equal(error.code, 'checkpoint_damaged');
        assert.match(error.message, /^checkpoint c1 is damaged: .*data\.sqlite/);
        assert.equal(error.hint, 'no other checkpoint was rehearsed; svc checkpoint list');
        return true;
      });
      assert.deepEqual(readFileSync(project.paths.database), before);
    });

  for (const [what, damage] of Object.entries(DAMAGES).filter(([name]) => name !== 'is gone'))
    it(`${what} is no state that an undo brings back`, async (t) => {
      const project = await withCheckpoint(t);
      await restored(project, 'c1');
      const file = join(project.paths.replacedDir, 's1/data.sqlite');
      damage(file);
      const before = readFileSync(project.paths.database);

      await assert.rejects(restored(project, undefined), {
        code: 'checkpoint_damaged',
        message: /^the replaced state s1 is damaged: .*s1\/data\.sqlite is not the database that svc copied there/,
      });
      assert.deepEqual(readFileSync(project.paths.database), before);
    });
});
