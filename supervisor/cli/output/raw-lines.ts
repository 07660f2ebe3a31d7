// Masks secrets in log lines that bypassed a logger, such as Node's last output or a child's direct writes.
// The supervisor knows the secrets and does the masking, so that no secret leaves it. It also masks the file after the worker's end.
//
//   RAW-LINES-1  A line of svc's own log stays as it is, since its writer has masked it. A JSON line of another program counts as raw.
//   RAW-LINES-2  Consecutive raw lines are masked as one text, because a key can span several. Groups of raw lines share a request.
//   RAW-LINES-3  A raw line that is too long for a request is not shown.
//   RAW-LINES-4  Without a supervisor that masks (none runs, or an older one), raw lines are shown unmasked. The caller may read the file anyway.
//                If the supervisor should answer but does not, raw lines are not shown.
import { randomUUID } from 'node:crypto';
import { MAX_REQUEST_BYTES } from '../../../shared/api/control.ts';
import { callControl } from '../../../shared/control/control-client.ts';
import { CONTROL_SOCKET } from '../../../shared/files/paths.ts';
import { parseLogLine } from '../../../shared/log/log-line.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';

/** Bytes of text in a request, as JSON. The rest is for its other fields. */
const MOST_BYTES = MAX_REQUEST_BYTES - 1_024;

/** Returns the text with secrets masked. Undefined if no supervisor can mask; throws if it should but does not. */
export type Mask = (text: string) => Promise<string | undefined>;

/** The lines, in their order. */
export async function withoutRawSecrets(
  lines: readonly string[],
  mask: Mask = bySupervisor,
): Promise<readonly string[]> {
  const runs = runsOf(lines);
  const between = `\n${randomUUID()}\n`;
  for (const request of requestsOf(runs, between)) {
    const texts = await mask(request.map(textOf).join(between)).then(
      (text) => text?.split(between),
      () => request.map(({ lines: { length } }) => `(${plural(length)} that could not be masked: see the file)`),
    );
    if (texts === undefined) break;
    for (const [index, run] of request.entries()) run.lines = texts[index]?.split('\n') ?? [];
  }
  return runs.flatMap((run) => run.lines);
}

/** The working folder must be the project. */
async function bySupervisor(text: string): Promise<string | undefined> {
  try {
    const answer = await callControl(CONTROL_SOCKET, 'mask', { options: { text } });
    if (typeof answer === 'object' && answer !== null && 'text' in answer) return String(answer.text);
  } catch (error) {
    if (NOBODY.has(coerceError(error).code)) return undefined;
    throw error;
  }
  throw new SvcError('internal', 'the supervisor gave no text back');
}
const plural = (count: number): string => (count === 1 ? '1 line' : `${count} lines`);
const NOBODY: ReadonlySet<string> = new Set(['not_running', 'not_implemented_coding']);

const isOurs = (line: string): boolean => {
  const entry = parseLogLine(line);
  return entry !== undefined && ('runtimeId' in entry || entry['process'] === 'supervisor');
};

interface Run {
  readonly isRaw: boolean;
  lines: string[];
}

const textOf = ({ lines }: Run): string => lines.join('\n');

/** Consecutive lines of one kind. Raw ones are limited to the size of a request. */
function runsOf(lines: readonly string[]): readonly Run[] {
  const runs: Run[] = [];
  let bytes = 0;
  for (const line of lines) {
    const isRaw = !isOurs(line);
    const size = isRaw ? sizeOf(line) : 0;
    const last = runs.at(-1);
    if (size > MOST_BYTES) runs.push({ isRaw: false, lines: [`(a line of ${line.length} characters: see the file)`] });
    else if (last?.isRaw === isRaw && bytes + size <= MOST_BYTES) last.lines.push(line);
    else runs.push({ isRaw, lines: [line] });
    bytes = runs.at(-1) === last ? bytes + size : size;
  }
  return runs;
}

/** Groups raw runs so that each group fits into a request. */
function requestsOf(runs: readonly Run[], between: string): readonly (readonly Run[])[] {
  const requests: Run[][] = [];
  let bytes = 0;
  for (const run of runs.filter(({ isRaw }) => isRaw)) {
    const size = sizeOf(textOf(run)) + sizeOf(between);
    const last = requests.at(-1);
    const fits = last !== undefined && bytes + size <= MOST_BYTES;
    if (fits) last.push(run);
    else requests.push([run]);
    bytes = fits ? bytes + size : size;
  }
  return requests;
}

/** Size of the text as sent, with its line feed. */
const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) + 2;
