// Calls another command of svc as a program of its own. So a step may be done by the svc of another tree than this command's, and the code of this
// command is not needed any more once a switch has moved it away.

import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { commandLine } from '../start/worker-entry.ts';
import { maskedDocument, maskFor } from './masked.ts';
import type { TreeOptions } from './repository.ts';
import { installedCli } from './tree.ts';

/** Its texts hold no secret of the project. */
export interface SvcAnswer {
  readonly code: number;
  /** The document on stdout; undefined where the command printed none. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** Lines on stderr. */
  readonly notes: readonly string[];
}

export interface SvcCaller {
  readonly project: string;
  readonly context: Pick<CommandContext, 'env' | 'signal' | 'print'>;
}

export const treeOptions = ({ project, context: { env, signal } }: SvcCaller): TreeOptions => ({
  project,
  env,
  signal,
});

/** Runs `svc <args> --json --project …`. `tree`: the svc that is installed there does it; else the one of this command. */
export async function askSvc(
  { project, context }: SvcCaller,
  args: readonly string[],
  { tree, more = {} }: { readonly tree?: string; readonly more?: Readonly<Record<string, string>> } = {},
): Promise<SvcAnswer> {
  const { execa } = await import('execa');
  const cli = tree === undefined ? undefined : installedCli(tree);
  const result = await execa(
    process.execPath,
    [...(cli === undefined ? commandLine() : [cli]), ...args, '--json', '--project', project],
    {
      cwd: project,
      env: { ...context.env, ...more },
      extendEnv: false,
      reject: false,
      cancelSignal: context.signal,
      stdin: 'ignore',
    },
  );
  const mask = maskFor({ project, env: { ...context.env, ...more }, tree });
  const notes = mask(String(result.stderr ?? ''))
    .split('\n')
    .filter((line) => line !== '');
  const json = maskedDocument(documentIn(String(result.stdout ?? '')), mask);
  return { code: result.exitCode ?? 1, json, notes };
}

/** As `askSvc`. Throws `refused` with the last words of a command that failed. */
export async function callSvc(...call: Parameters<typeof askSvc>): Promise<SvcAnswer> {
  const [, args] = call;
  const answer = await askSvc(...call);
  if (answer.code === 0) return answer;
  throw failedCall(args, answer);
}

export function failedCall(args: readonly string[], { code, json, notes }: SvcAnswer): SvcError {
  const error = json?.['error'] as { readonly message?: string } | null | undefined;
  const said =
    error?.message ??
    notes
      .filter((line) => line.trim() !== '')
      .slice(-2)
      .join('; ');
  return new SvcError(
    'refused',
    `svc ${args.slice(0, 2).join(' ')} ended with ${code}${said === '' ? '' : `: ${said}`}`,
    {
      hint: `run it by hand: svc ${args.map((word) => (word.includes(' ') ? JSON.stringify(word) : word)).join(' ')}`,
    },
  );
}

function documentIn(text: string): SvcAnswer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as SvcAnswer['json']) : undefined;
  } catch {
    return undefined;
  }
}
