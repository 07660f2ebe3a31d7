// Tells whether a switch of the state is decided and not finished. Nothing opens the database meanwhile.
import { existsSync } from 'node:fs';
import { projectPaths } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';

/** The command that carries out a pending switch. */
export const FINISH_COMMAND = 'svc checkpoint restore --finish';

const OWN_COMMANDS: Readonly<Record<string, string>> = {
  release: 'svc release start',
  rollback: 'svc release rollback',
};

/** The command that finishes the switch and goes on with what it was for. */
export const commandOf = (purpose: string): string => OWN_COMMANDS[purpose] ?? FINISH_COMMAND;

export const pendingSwitch = (file: string): SvcError =>
  new SvcError('switch_pending', `the state of this project is being switched: ${file} exists`, {
    hint: `\`${FINISH_COMMAND}\` finishes it, and so does a start of the host`,
  });

/** Throws `switch_pending` while a switch is pending. */
export function refusePendingSwitch(project: string): void {
  const file = projectPaths(project).pendingSwitch;
  if (existsSync(file)) throw pendingSwitch(file);
}
