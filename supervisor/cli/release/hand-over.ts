// Which svc does a step of a release. The code of a project and its svc are exchanged together, so a command may stand for the wrong one of both.
//
//   HAND-OVER-1  An exchange that was cut is finished first, by whatever svc was asked. Then the svc of the code that lies here goes on.
//   HAND-OVER-2  The svc of before rolls back: another one would bring the data of before up to its own schema, which that svc may refuse.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { projectPaths } from '../../../shared/files/paths.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { commandOf } from '../../../shared/recovery/pending-switch.ts';
import { readSwitch, type Switch } from '../../../shared/recovery/switch.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { commandLine, finishPending } from '../start/worker-entry.ts';
import { installedCli, nextTree, previousTree } from './tree.ts';

const CODE: ReadonlySet<string> = new Set(['release', 'rollback']);

/** Whether an exchange of code is decided and not finished. Throws `switch_pending` where nobody can tell. */
export const isCodeCut = (project: string): boolean => CODE.has(readSwitch(project)?.purpose ?? '');

/** The pending switch, if `verb` is the step that goes on behind it. Throws `switch_pending` with the one command that does. */
export function pendingFor(project: string, verb: string): Switch | undefined {
  const pending = readSwitch(project);
  if (pending === undefined) return undefined;
  const command = commandOf(pending.purpose);
  // A rollback may follow each exchange of code.
  if (command === `svc release ${verb}` || (verb === 'rollback' && CODE.has(pending.purpose))) return pending;
  throw new SvcError(
    'switch_pending',
    `a ${pending.purpose} is decided and not finished: ${projectPaths(project).pendingSwitch}`,
    { hint: `${command} finishes it` },
  );
}

/**
 * Finishes a pending exchange of code, and returns the command line of the svc that goes on: undefined where this one does. Files of this command may have moved,
 * so nothing more of it may be loaded where another one does. Throws `already_running` and `switch_pending`.
 */
export async function finishCut(project: string): Promise<{ readonly cli: string | undefined }> {
  await finishPending(project);
  return { cli: installedCli(project) };
}

/** The svc of before, once the code was exchanged. Undefined where this command is of it, or where none is kept. */
export function formerCli(project: string, name: string): string | undefined {
  if (existsSync(nextTree(project, name))) return undefined;
  const cli = installedCli(previousTree(project, name));
  return cli === undefined || realpathSync(cli) === realpathSync(commandLine().at(-1) ?? '') ? undefined : cli;
}

/** Runs the words of a command by another svc: its output, its questions and its exit code are those of this one. */
export function runAs(
  cli: string,
  words: readonly string[],
  { project, context }: { readonly project: string; readonly context: Pick<CommandContext, 'env' | 'json'> },
): Promise<ExitCode> {
  const args = [cli, ...words, ...(context.json ? ['--json'] : []), '--project', project];
  const child = spawn(process.execPath, args, { cwd: project, env: { ...context.env }, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve((code ?? EXIT.failed) as ExitCode));
  });
}
