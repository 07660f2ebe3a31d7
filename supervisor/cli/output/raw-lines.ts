// Lines of the runtime log that never went through a logger (last words of Node, what a worker wrote on its descriptors), without the secrets in
// them. The supervisor knows those and masks, so that no secret goes anywhere for it; in the file it covers them once the worker has ended.
//
//   M1  A line of our log stays as it is: its writer has masked it. One of another program's JSON log is raw.
//   M2  Raw lines that follow each other are masked as one text: a key goes over several. What a plugin prints between lines of a log costs no
//       request each: they go together.
//   M3  One that is too long to be masked as a whole is not shown.
//   M4  Where no supervisor masks (none is there, or one of an earlier version), a line is shown as it stands in the file, which its owner may read.
//       One that should and does not answer shows none.
import { randomUUID } from 'node:crypto';
import { MAX_REQUEST_BYTES } from '../../../shared/api/control.ts';
import { callControl } from '../../../shared/control/control-client.ts';
import { CONTROL_SOCKET } from '../../../shared/files/paths.ts';
import { parseLogLine } from '../../../shared/log/log-line.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';

/** Of a request, as JSON: the rest is for what else is in it. */
const MOST_BYTES = MAX_REQUEST_BYTES - 1_024;

/** Gives the text back without secrets; undefined where nobody does (M4). Throws where somebody should. */
export type Mask = (text: string) => Promise<string | undefined>;

/** The lines in their order. */
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

/** The working folder is the project. */
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

/** Lines of one kind that follow each other, as many raw ones as go into one request. */
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

/** The raw ones, as many at once as go into one request. */
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

/** As it is sent, with the feed behind it. */
const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) + 2;
