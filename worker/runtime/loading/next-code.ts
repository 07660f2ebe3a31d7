// Tests in a separate process if the next worker could load the current code. The process gets the variables of this one.
//
//   NEXTCODE-1  One test at a time. A request during a test gets the next one, which begins after the request.
//   NEXTCODE-2  The test process ends with its answer, after LIMIT_MS, or with this process, whatever the code does.
//   NEXTCODE-3  If the process cannot be started, the result is unknown, and a restart is allowed.
//   NEXTCODE-4  Node itself and the native module of SQLite are part of the code. A program of another Node at the same path, or packages that were
//               removed or installed anew, are tested as changed plugins are.
import { type ChildProcess, fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../shared/config/environment.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { endChild } from '../../../shared/process/end-child.ts';
import { nativeFile } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';

export interface CodeQuestion {
  readonly project: string;
  readonly mode: Mode;
  /** Includes secrets, which are passed over IPC only. */
  readonly environment: Environment;
}

export type CodeAnswer =
  | { readonly kind: 'looked'; readonly failures: readonly string[] }
  | ({ readonly kind: 'refused'; readonly code: ErrorCode } & Pick<SvcError, 'message' | 'details'> & {
        readonly hint?: string;
      });

/** Slightly shorter than the limit of a reload. */
const LIMIT_MS = 25_000;

export class NextCode {
  readonly #question: CodeQuestion;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<CodeAnswer | undefined> | undefined;

  /** Program and native module as they were at the start of this process. */
  readonly #base = [process.execPath, nativeFile()].map((path) => ({ path, mark: markOf(path) }));

  constructor({ project, mode, environment }: CodeQuestion) {
    this.#question = { project, mode, environment };
  }

  /** Whether Node or the packages were installed anew since the start (NEXTCODE-4). */
  get isOnOtherBase(): boolean {
    return this.#base.some(({ path, mark }) => markOf(path) !== mark);
  }

  /**
   * False if the code could not be tested. Throws `plugin_failed` if no worker would serve anything, and `config_invalid` for rejected
   * plugin keys.
   */
  async check(): Promise<boolean> {
    if (markOf(process.execPath) === '')
      throw new SvcError('modules_unusable', `the Node that runs this host is gone: ${process.execPath}`, {
        hint: 'put it back, or stop the host and start it with another one',
        details: { reason: 'the Node that runs this host is gone' },
      });
    const answer = await this.#ask();
    if (answer?.kind === 'refused') {
      const { code, message, hint, details } = answer;
      throw new SvcError(code, message, { details, ...(hint === undefined ? {} : { hint }) });
    }
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
      endChild(child); // ends anything that the code left running
      resolve(answer);
    };
    const limit = setTimeout(() => settle(failed(`the code was not loaded within ${LIMIT_MS / 1_000} s`)), LIMIT_MS);
    child.on('error', () => settle(undefined)); // the process could not be started
    child.on('message', (answer) => settle(answer as CodeAnswer));
    child.on('exit', (code, signal) =>
      // The kernel kills on low memory, which two processes may cause and the next worker alone may not.
      settle(
        signal === 'SIGKILL' ? undefined : failed(`the process that loaded the code ended with ${signal ?? code}`),
      ),
    );
    child.send(question, () => {}); // if sending fails, the process has ended and `exit` reports it
  });
}

function markOf(path: string | undefined): string {
  const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino}-${stat.size}-${stat.mtimeMs}`;
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
