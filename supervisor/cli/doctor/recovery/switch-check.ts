// The check for a restore that was decided and cut: the next start finishes it, and nothing opens the database before.
import { existsSync } from 'node:fs';
import type { ProjectPaths } from '../../../../shared/files/paths.ts';
import { commandOf, FINISH_COMMAND } from '../../../../shared/recovery/pending-switch.ts';
import { readSwitch } from '../../../../shared/recovery/switch.ts';
import { coerceError } from '../../../../shared/svc-error.ts';
import { type Check, type Finding, fault, ok } from '../check.ts';

export const SWITCH_CHECK: Check = {
  id: 'switch.pending',
  title: 'No restore waits to be finished',
  run: ({ paths }) => pending(paths),
};

export const isSwitchPending = ({ pendingSwitch }: ProjectPaths): boolean => existsSync(pendingSwitch);

function pending({ project }: ProjectPaths): Finding {
  try {
    const known = readSwitch(project);
    if (known === undefined) return ok('none');
    return fault(`a ${known.purpose} is decided and not finished`, commandOf(known.purpose));
  } catch (error) {
    const { message, hint } = coerceError(error);
    return fault(message, hint ?? FINISH_COMMAND);
  }
}
