// Where a project gets the package svc from, as `svc doctor` sees it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Finding } from '../../../supervisor/cli/doctor/check.ts';
import { PACKAGE_CHECKS } from '../../../supervisor/cli/doctor/package-checks.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

const TARBALL = 'the packed svc';
const lockOf = (text: string): string =>
  JSON.stringify({
    packages: {
      'node_modules/svc': { integrity: `sha512-${createHash('sha512').update(text).digest('base64')}` },
    },
  });

async function look({ paths }: TemporaryProject, svc: string | undefined): Promise<Finding> {
  const [check] = PACKAGE_CHECKS;
  const manifest = svc === undefined ? {} : { dependencies: { svc } };
  const subject = { paths, manifest, env: {}, config: { fault: '' }, node: process.versions.node };
  return check?.run(subject) ?? { status: 'skip', reason: 'no check' };
}

describe('the package svc', () => {
  for (const spec of ['file:../svc', 'file:../svc-0.1.0.tgz', '../svc', '/srv/svc', 'file:///srv/svc', 'link:../svc'])
    it(`is a fault where it lies outside of the project: ${spec}`, async (t) => {
      const { status, reason, fix = '' } = await look(temporaryProject(t), spec);

      assert.equal(status, 'error');
      assert.match(reason, /outside of the project: elsewhere npm ci installs a link to nowhere/);
      assert.match(fix, /^mkdir -p vendor && (npm pack|cp) \S+ .*&& npm install \.\/vendor\/svc-.*\.tgz$/);
    });

  for (const spec of ['^0.1.0', '0.1.0', 'latest', 'npm:other@1', 'git+https://git.example/svc.git'])
    it(`may come from elsewhere by its version: ${spec}`, async (t) => {
      assert.equal((await look(temporaryProject(t), spec)).status, 'ok');
    });

  it('is looked at as a packed file: there, and the locked one', async (t) => {
    const project = temporaryProject(t);
    const spec = 'file:vendor/svc-0.1.0.tgz';

    assert.match(
      (await look(project, spec)).reason,
      /vendor\/svc-0\.1\.0\.tgz is not there: npm ci cannot install svc/,
    );
    project.write('vendor/svc-0.1.0.tgz', TARBALL);
    project.write('package-lock.json', lockOf(TARBALL));
    assert.deepEqual(await look(project, spec), { status: 'ok', reason: 'vendor/svc-0.1.0.tgz is the locked one' });
    project.write('vendor/svc-0.1.0.tgz', 'another one');
    assert.deepEqual(await look(project, spec), {
      status: 'warn',
      reason: 'vendor/svc-0.1.0.tgz is not the one in package-lock.json: npm ci refuses it',
      fix: 'npm install ./vendor/svc-0.1.0.tgz',
    });
    rmSync(project.paths.lockfile);
    assert.equal((await look(project, spec)).status, 'skip');
  });

  it('is a fault where the installed one is a link to nowhere', async (t) => {
    const project = temporaryProject(t);
    mkdirSync(join(project.path, 'node_modules'));
    symlinkSync('../../svc-of-nobody', join(project.path, 'node_modules/svc'));

    assert.deepEqual(await look(project, '^0.1.0'), {
      status: 'error',
      reason: 'node_modules/svc is a link to nowhere',
      fix: 'npm ci',
    });
  });

  it('is no matter where package.json does not name it', async (t) => {
    assert.equal((await look(temporaryProject(t), undefined)).status, 'skip');
  });
});
