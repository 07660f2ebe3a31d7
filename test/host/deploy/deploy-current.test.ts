// `svc doctor`'s check of the files that `svc deploy init` has written.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { projectPaths } from '../../../shared/files/paths.ts';
import type { Finding, Subject } from '../../../supervisor/cli/doctor/check.ts';
import { DEPLOY_CHECK } from '../../../supervisor/cli/doctor/deploy/deploy-check.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';

const lookAt = async (folder: string): Promise<Finding> =>
  DEPLOY_CHECK.run({
    paths: projectPaths(folder),
    env: {},
    config: { fault: 'not read' },
    manifest: undefined,
    node: process.version,
  } satisfies Subject);

/** As a former svc wrote it. */
function age(folder: string, path: string): void {
  const file = join(folder, path);
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/svc \S+, (deploy\/\S+) [\da-f]{12}/, 'svc 0.0.1, $1 0123456789ab'),
  );
}

describe('deploy.current', () => {
  it('is skipped in a project without such files, also beside files of others', async (t) => {
    const folder = deployFolder(t);
    mkdirSync(join(folder, 'deploy'));
    writeFileSync(join(folder, 'deploy/own.yaml'), 'kind: Mine\n');
    assert.equal((await lookAt(folder)).status, 'skip');
  });

  it('is well for what was just written, and for what the operator has changed below the head', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'kubernetes');
    await runDeploy(folder, 'systemd', { instance: 'bob', port: '8069' });
    const file = join(folder, 'deploy/kubernetes/kustomization.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('newTag: set-me', 'newTag: "3"'));
    assert.deepEqual(await lookAt(folder), { status: 'ok', reason: '9 are' });
  });

  it('names each file that is behind and the command of its target, by which it is well again', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'kubernetes');
    await runDeploy(folder, 'systemd');
    age(folder, 'deploy/kubernetes/network-policy/policy.yaml');
    age(folder, 'deploy/systemd/svc@.service');
    const { status, reason, fix } = await lookAt(folder);
    assert.equal(status, 'warn');
    assert.match(
      reason,
      /network-policy\/policy\.yaml \(svc 0\.0\.1\), deploy\/systemd\/svc@\.service \(svc 0\.0\.1\)$/,
    );
    assert.match(fix ?? '', /^svc deploy init kubernetes --force; svc deploy init systemd --force, /);
    await runDeploy(folder, 'kubernetes', { force: true });
    await runDeploy(folder, 'systemd', { force: true });
    assert.equal((await lookAt(folder)).status, 'ok', 'the copies that are kept do not count');
  });

  it('looks at the files of a container, too, which lie in the root', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'compose');
    assert.deepEqual(await lookAt(folder), { status: 'ok', reason: '3 are' });
    for (const path of ['Dockerfile', 'compose.yml']) age(folder, path);
    const { status, reason, fix } = await lookAt(folder);
    assert.equal(status, 'warn');
    assert.match(reason, /: Dockerfile \(svc 0\.0\.1\), compose\.yml \(svc 0\.0\.1\)$/);
    assert.match(fix ?? '', /^svc deploy init compose --force, /);
    await runDeploy(folder, 'compose', { force: true });
    assert.equal((await lookAt(folder)).status, 'ok');
  });

  it('takes a template that this svc does not have for behind', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'systemd');
    const file = join(folder, 'deploy/systemd/svc@.service');
    writeFileSync(file, readFileSync(file, 'utf8').replace('deploy/systemd/svc@.service ', 'deploy/../package.json '));
    assert.equal((await lookAt(folder)).status, 'warn');
  });
});
