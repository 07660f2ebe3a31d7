// What the worker after this one would make of the code as it is now, tried in a process of its own with the variables of this one.
//
//   N1  One at a time. Who asks while one runs gets the next, which begins after it was asked for.
//   N2  It ends with its answer, after LIMIT_MS, or with this process, whatever the code does.
//   N3  Where no process can be had for it nothing is known, which keeps nobody from a restart.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../shared/config/environment.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';

export interface CodeQuestion {
  readonly project: string;
  readonly mode: Mode;
  /** With the secrets, which go over IPC alone. */
  readonly environment: Environment;
}

export type CodeAnswer =
  | { readonly kind: 'looked'; readonly failures: readonly string[] }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint?: string };

/** A little less than a reload may take. */
const LIMIT_MS = 25_000;

export class NextCode {
  readonly #question: CodeQuestion;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<CodeAnswer | undefined> | undefined;

  constructor({ project, mode, environment }: CodeQuestion) {
    this.#question = { project, mode, environment };
  }

  /**
   * Whether it could be tried. Throws `plugin_failed` where no worker would serve anything, and what a plugin refuses of its keys
   * (`config_invalid`).
   */
  async check(): Promise<boolean> {
    const answer = await this.#ask();
    if (answer?.kind === 'refused')
      throw new SvcError(answer.code, answer.message, answer.hint === undefined ? {} : { hint: answer.hint });
    if (answer === undefined) return false;
    if (answer.failures.length === 0) return true;
    throw new SvcError('plugin_failed', `no worker would serve anything: ${answer.failures.join('\n')}`, {
      hint: 'the worker that runs goes on; mend it, or stop the host and start it',
    });
  }

  #ask(): Promise<CodeAnswer | undefined> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      const answer = askProcess(this.#question);
      this.#running = answer;
      return answer;
    });
    return this.#next;
  }
}

function askProcess(question: CodeQuestion): Promise<CodeAnswer | undefined> {
  return new Promise((resolve) => {
    const child = start(question.project);
    if (child === undefined) return resolve(undefined);
    const settle = (answer: CodeAnswer | undefined): void => {
      clearTimeout(limit);
      child.kill('SIGKILL'); // whatever it has left running
      resolve(answer);
    };
    const limit = setTimeout(() => settle(failed(`the code was not loaded within ${LIMIT_MS / 1_000} s`)), LIMIT_MS);
    child.on('error', () => settle(undefined)); // no room for another process
    child.on('message', (answer) => settle(answer as CodeAnswer));
    child.on('exit', (code, signal) =>
      // The kernel, short of memory for both: a restart needs one alone.
      settle(
        signal === 'SIGKILL' ? undefined : failed(`the process that loaded the code ended with ${signal ?? code}`),
      ),
    );
    child.send(question, () => {}); // a failed send is an end that `exit` reports
  });
}

const failed = (message: string): CodeAnswer => ({ kind: 'looked', failures: [message] });

function start(project: string): ChildProcess | undefined {
  const here = import.meta.url;
  const fromSource = here.endsWith('.ts');
  const entry = new URL(fromSource ? '../../process/code-check.ts' : './code-check.mjs', here);
  try {
    return fork(fileURLToPath(entry), [], {
      cwd: project,
      execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  } catch {
    return undefined;
  }
}
