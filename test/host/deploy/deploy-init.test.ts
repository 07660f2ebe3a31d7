// `svc deploy init`, run as the CLI runs it: files of a target, all or none, and what is refused before one is written.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { command } from '../../../supervisor/cli/commands/deploy.ts';
import { headOf, templateHash } from '../../../supervisor/cli/deploy/template.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';

const UNIT = 'deploy/systemd/svc@.service';

describe('svc deploy init', () => {
  it('writes the files of a target, and a second run changes nothing', async (t) => {
    const folder = deployFolder(t);
    const first = await runDeploy(folder, 'systemd');
    const again = await runDeploy(folder, 'systemd');

    assert.deepEqual(first.actions, { [UNIT]: 'made', 'deploy/systemd/svc@.socket': 'made' });
    assert.deepEqual(again.actions, { [UNIT]: 'unchanged', 'deploy/systemd/svc@.socket': 'unchanged' });
    assert.equal(headOf(readFileSync(join(folder, UNIT), 'utf8'))?.hash, templateHash('systemd/svc@.service'));
    assert.doesNotMatch(readFileSync(join(folder, UNIT), 'utf8'), new RegExp(folder));
    assert.equal(first.next.length <= 4, true);
  });

  it('only says what it would write with --dry-run', async (t) => {
    const folder = deployFolder(t);
    const { actions } = await runDeploy(folder, 'systemd', { dryRun: true });
    assert.equal(actions[UNIT], 'made');
    assert.equal(existsSync(join(folder, 'deploy')), false);
  });

  it('replaces no file of others; with --force it keeps a copy', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'systemd');
    writeFileSync(join(folder, UNIT), 'mine\n');
    rmSync(join(folder, 'deploy/systemd/svc@.socket'));
    await assert.rejects(runDeploy(folder, 'systemd'), {
      code: 'refused',
      message: new RegExp(`nothing was written: ${UNIT}`),
      hint: /--force, which keeps the old files as copies, and take your changes over/,
    });
    assert.equal(existsSync(join(folder, 'deploy/systemd/svc@.socket')), false);
    const forced = await runDeploy(folder, 'systemd', { force: true });
    assert.equal(forced.actions[UNIT], 'replaced');
    assert.equal(readFileSync(join(folder, forced.backups[UNIT] ?? ''), 'utf8'), 'mine\n');
    assert.match(forced.next[0] ?? '', /^sudo cp [^*]+ \/etc\/systemd\/system\/$/, 'copies stay where they are');
  });

  it('refuses a project that could not be started elsewhere', async (t) => {
    const cases = [
      { change: { scripts: { start: 'exec node x' } }, says: /package.json has no script build/ },
      { change: { scripts: { build: 'tsc' } }, says: /package.json has no script start/ },
      { change: { dependencies: { svc: '1.0.0', left: '1.0.0' } }, says: /differs from package.json in dependencies/ },
      { change: { lockfile: undefined }, says: /there is no package-lock.json/ },
      {
        change: { locked: { resolved: 'file:../svc-1.0.0.tgz' } },
        says: /is locked as file:\.\.\/svc-1\.0\.0\.tgz, outside/,
      },
      { change: { locked: { resolved: '../svc', link: true } }, says: /is a link to \.\.\/svc, which is outside/ },
      { change: { name: '@@@' }, says: /no name can be made of "@@@"/ },
    ];
    for (const { change, says } of cases) {
      const folder = deployFolder(t, change);
      await assert.rejects(runDeploy(folder, 'systemd'), { code: 'refused', message: says });
      assert.equal(existsSync(join(folder, 'deploy')), false);
    }
    const inside = deployFolder(t, { locked: { resolved: 'file:vendor/svc-1.0.0.tgz' } });
    await runDeploy(inside, 'systemd');
  });

  it('names the targets where it knows none, and refuses an option of another target', async (t) => {
    const folder = deployFolder(t);
    await assert.rejects(runDeploy(folder, 'swarm'), { code: 'usage', hint: /systemd/ });
    await assert.rejects(runDeploy(folder, 'toString'), { code: 'usage' });
    await assert.rejects(runDeploy(folder, 'systemd', { kind: 'caddy' }), {
      code: 'usage',
      message: '--kind is not for systemd',
    });
    assert.equal(command.noun, 'deploy');
  });
});
