// A state folder of somebody else: what lies in it looks to this user as if it were not there.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { it } from 'node:test';
import { findRunning } from '../../../supervisor/cli/control-client.ts';
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
