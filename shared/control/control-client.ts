// Client of the control protocol: one request, one answer, one connection.
import { connect } from 'node:net';
import { CONTROL_PROTOCOL, type ControlAnswer, type ControlCommand } from '../api/control.ts';
import { ERRORS, type ErrorCode } from '../error-codes.ts';
import { SvcError } from '../svc-error.ts';

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export interface ControlCallOptions {
  readonly options?: Readonly<Record<string, unknown>>;
  /** Limit for the answer in ms. Default 5 000. */
  readonly timeoutMs?: number;
}

/**
 * Sends a request to the listener at `path`. The path is relative to the working folder, because the kernel truncates long ones.
 * Throws `not_running` if nothing listens, `timeout`, or the error in the answer.
 */
export function callControl(
  path: string,
  command: ControlCommand,
  { options, timeoutMs = 5_000 }: ControlCallOptions = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let received = '';
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    const timer = setTimeout(
      () => end(() => reject(new SvcError('timeout', `no answer to ${command} at ${path} within ${timeoutMs} ms`))),
      timeoutMs,
    );
    socket.setEncoding('utf8');
    socket.on('connect', () =>
      socket.write(
        `${JSON.stringify({ id: 1, protocol: CONTROL_PROTOCOL, command, ...(options === undefined ? {} : { options }) })}\n`,
      ),
    );
    socket.on('data', (text: string) => {
      received += text;
      const newline = received.indexOf('\n');
      if (newline !== -1) end(() => settleAnswer(received.slice(0, newline), resolve, reject));
      else if (received.length > MAX_ANSWER_BYTES)
        end(() => reject(new SvcError('internal', `the answer to ${command} is too long`)));
    });
    socket.on('error', (error) =>
      end(() => reject(new SvcError('not_running', `nobody answers at ${path}`, { cause: error }))),
    );
    socket.on('close', () =>
      end(() => reject(new SvcError('not_running', `the connection at ${path} ended before an answer`))),
    );
  });
}

function settleAnswer(line: string, resolve: (value: unknown) => void, reject: (error: Error) => void): void {
  let answer: ControlAnswer;
  try {
    answer = JSON.parse(line) as ControlAnswer;
  } catch (error) {
    reject(new SvcError('internal', 'the answer is not JSON', { cause: error }));
    return;
  }
  if (answer.ok) resolve(answer.result);
  else
    reject(
      new SvcError(
        codeOf(answer.error?.code),
        answer.error?.message ?? 'refused',
        answer.error?.hint === undefined ? {} : { hint: answer.error.hint },
      ),
    );
}

/** A newer listener may send codes that this client does not know. */
const codeOf = (code: string | undefined): ErrorCode =>
  code !== undefined && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'refused';
