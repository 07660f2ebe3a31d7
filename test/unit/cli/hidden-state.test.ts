// A state folder of somebody else: what lies in it looks to this user as if it were not there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { findRunning } from '../../../supervisor/cli/connect/control-client.ts';
import { CLI } from '../../support/process/built-svc.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const STRANGER = 61_234;

it('is an error of every command that asks who runs, not nobody', async (t) => {
  const { path, paths } = temporaryProject(t);
  const before = process.cwd();
  t.after(() => process.chdir(before));
  chmodSync(path, 0o755);
  mkdirSync(paths.stateDir, { recursive: true, mode: 0o700 });
  assert.equal(await findRunning(path), undefined, 'to its owner');

  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(STRANGER);
  else chmodSync(paths.stateDir, 0o000);
  const asked = findRunning(path).finally(() => (isRoot ? process.seteuid?.(0) : chmodSync(paths.stateDir, 0o700)));

  await assert.rejects(asked, { code: 'state_dir_unsafe' });
});

it('is told by svc doctor with what helps, also where root owns it', (t) => {
  const { path, paths } = temporaryProject(t);
  rmSync(paths.env);
  chmodSync(path, 0o755);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  writeFileSync(paths.database, '');
  const isRoot = process.geteuid?.() === 0;
  const user = isRoot ? { uid: STRANGER, gid: STRANGER } : {};
  const reads = ['--eval', `require('node:fs').accessSync(${JSON.stringify(CLI)})`];
  if (spawnSync(process.execPath, reads, user).status !== 0)
    return t.skip('the command lies in a folder that only root can read');
  if (!isRoot) chmodSync(paths.stateDir, 0o000);

  const only = ['--only', 'state.folder,database.integrity,database.schema', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, 'doctor', ...only], {
    cwd: path,
    env: { HTTP_TOKEN: 'a-token-of-sufficient-length-0123456789', SVC_ANY_PORT: '1' },
    encoding: 'utf8',
    ...user,
  });

  chmodSync(paths.stateDir, 0o700);
  const { checks } = JSON.parse(stdout || stderr) as { readonly checks: readonly { status: string; fix: string }[] };
  for (const check of checks)
    assert.deepEqual([check.status, check.fix !== ''], ['error', true], JSON.stringify(check));
});
