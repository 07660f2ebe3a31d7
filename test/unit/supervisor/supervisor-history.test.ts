// What a supervisor writes of itself, and where it does not.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { it } from 'node:test';
import { StateWatch } from '../../../shared/files/state-watch.ts';
import { History } from '../../../supervisor/log/history.ts';
import { DEFAULT_MACHINE_LIMITS, newMachine } from '../../../supervisor/machine/machine.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

it('writes its record into its own folder alone: in one that took the place of that, it would be over that of another', (t) => {
  const { paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const history = new History(paths, new StateWatch(paths.stateDir));
  const machine = newMachine(DEFAULT_MACHINE_LIMITS);

  history.write(machine, null);
  const isWritten = existsSync(paths.supervisorRecord);
  renameSync(paths.stateDir, `${paths.stateDir}-elsewhere`);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  history.write(machine, null);

  assert.deepEqual([isWritten, existsSync(paths.supervisorRecord)], [true, false]);
});
