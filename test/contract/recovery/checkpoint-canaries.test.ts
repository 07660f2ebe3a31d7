// Secrets that are planted in a project in every spelling: none is in a checkpoint.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { readRestorePlan } from '../../../worker/recovery/restore/restore.ts';
import { verifyCheckpoint } from '../../../worker/task.ts';
import { assertClean, canaries, SPELLINGS } from '../../support/recovery/canary-spellings.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';

const secrets = canaries();
const NAMES = Object.keys(secrets);
const valueOf = (index: number): string => secrets[NAMES[index] ?? ''] ?? '';

const allFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

describe('a known secret', () => {
  it('refuses the checkpoint in each spelling, with file and line, whatever the file', async (t) => {
    const project = stoppedProject(t, { env: secrets });
    for (const [index, [spelling, write]] of Object.entries(SPELLINGS).entries()) {
      const file = `notes/${index}.md`;
      project.write(file, `first line\n${write(valueOf(index))}\n`);

      await assert.rejects(
        project.make(),
        { code: 'refused', message: new RegExp(`^notes/${index}\\.md:2 holds`) },
        spelling,
      );
      rmSync(join(project.path, file));
    }

    project.write(`plugins/${valueOf(0).replace('/', '')}.js`, '');
    project.write('data/schedule-jobs.json', `{"version":1,"jobs":[],"x-note":"${valueOf(1)}"}`);
    await assert.rejects(project.make(), { code: 'refused', message: /^data\/schedule-jobs\.json:1 / });
    await assert.rejects(project.make(`rotated ${valueOf(2)}`), { code: 'refused', message: /^the reason holds/ });
    assert.deepEqual(readdirSync(project.paths.checkpointsDir), ['files']);
  });

  it('is found in a file of bytes, and counted in the database', async (t) => {
    const project = stoppedProject(t, { env: secrets });
    project.write('logo.bin', `\0\0${valueOf(3)}\0`);
    await assert.rejects(project.make(), { code: 'refused', message: /^logo\.bin:1 / });
    rmSync(join(project.path, 'logo.bin'));
    project.store(Object.fromEntries(NAMES.map((name, index) => [`said-${index}`, `my key is ${secrets[name]}`])));

    const made = await makeStopped({ project: project.path, environment: {}, reason: null });

    assert.equal(made.secretHits, NAMES.length);
    const folder = checkpointFolder(project.path, made.manifest.name);
    for (const file of allFiles(folder).filter((path) => !path.endsWith('data.sqlite')))
      assertClean(file, readFileSync(file, 'latin1'), secrets);
    assert.deepEqual(
      made.manifest.secrets.map(({ name }) => name),
      [...NAMES, 'HTTP_TOKEN'].toSorted(),
    );
    for (const { print } of made.manifest.secrets) assert.match(print, /^[0-9a-f]{64}$/);
  });

  it('is in no plan of a restore and in no record of a rehearsal, also where it was changed since', async (t) => {
    const project = stoppedProject(t, { env: secrets });
    project.store(Object.fromEntries(NAMES.map((name, index) => [`said-${index}`, `my key is ${secrets[name]}`])));
    const { name } = (await makeStopped({ project: project.path, environment: {}, reason: null })).manifest;
    project.write('.env', project.read('.env').replace(/^(CANARY_3_TOKEN=).*$/m, '$1another-value-0123'));
    const request = { project: project.path, environment: {}, name, carry: true, open: undefined };

    const plan = readRestorePlan(request);
    const verified = await verifyCheckpoint({ project: project.path, environment: {}, name });

    assert.match(JSON.stringify(plan), /CANARY_3_TOKEN/, 'the plan names what was changed');
    assertClean('the plan', JSON.stringify(plan), secrets);
    assertClean('the answer of the rehearsal', JSON.stringify(verified), secrets);
    const records = allFiles(project.paths.stateDir).filter((path) => path.endsWith('.json'));
    assert.ok(records.some((path) => /verif/u.test(path)));
    for (const path of records) assertClean(path, readFileSync(path, 'latin1'), secrets);
  });

  it('has the same print until it is changed', async (t) => {
    const project = stoppedProject(t, { env: secrets });
    const make = async () =>
      (await makeStopped({ project: project.path, environment: {}, reason: null })).manifest.secrets;
    const [before, again] = [await make(), await make()];
    project.write('.env', project.read('.env').replace(/^(CANARY_3_TOKEN=).*$/m, '$1another-value-0123'));
    const changed = await make();

    assert.deepEqual(again, before);
    assert.deepEqual(
      changed.filter(({ print }, index) => print !== before[index]?.print).map(({ name }) => name),
      ['CANARY_3_TOKEN'],
    );
  });
});
