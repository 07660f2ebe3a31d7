// Lines of the runtime log that never went through a logger (last words of Node, what a worker wrote on its descriptors), without the secrets in
// them. The supervisor knows those and masks, so that no secret goes anywhere for it; in the file it covers them once the worker has ended.
//
//   M1  A line of a log stays as it is: its writer has masked it.
//   M2  Raw lines that follow each other are masked as one text: a key goes over several.
//   M3  One that is too long to be masked as a whole is not shown.
//   M4  Where no supervisor masks (none is there, or one of an earlier version), a line is shown as it stands in the file, which its owner may read.
import { MAX_REQUEST_BYTES } from '../../shared/api/control.ts';
import { callControl } from '../../shared/control-client.ts';
import { parseLogLine } from '../../shared/log-line.ts';
import { CONTROL_SOCKET } from '../../shared/paths.ts';

/** Of a request, as JSON: the rest is for what else is in it. */
const MOST_BYTES = MAX_REQUEST_BYTES - 1_024;

/** Gives the text back without secrets; undefined where nobody does. */
export type Mask = (text: string) => Promise<string | undefined>;

/** The lines in their order. */
export async function withoutRawSecrets(
  lines: readonly string[],
  mask: Mask = bySupervisor,
): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const { isRaw, texts } of runsOf(lines)) shown.push(...(isRaw ? await masked(texts, mask) : texts));
  return shown;
}

/** The working folder is the project. */
async function bySupervisor(text: string): Promise<string | undefined> {
  const answer = await callControl(CONTROL_SOCKET, 'mask', { options: { text } }).catch(() => undefined);
  return typeof answer === 'object' && answer !== null && 'text' in answer ? String(answer.text) : undefined;
}

interface Run {
  readonly isRaw: boolean;
  readonly texts: string[];
}

/** Lines of one kind that follow each other, as many raw ones as go into one request. */
function runsOf(lines: readonly string[]): readonly Run[] {
  const runs: Run[] = [];
  let bytes = 0;
  for (const line of lines) {
    const isRaw = parseLogLine(line) === undefined;
    const size = isRaw ? sizeOf(line) : 0;
    const last = runs.at(-1);
    const fits = last?.isRaw === isRaw && bytes + size <= MOST_BYTES;
    if (fits) last.texts.push(line);
    else runs.push({ isRaw, texts: [line] });
    bytes = fits ? bytes + size : size;
  }
  return runs;
}

/** As it is sent, with the feed behind it. */
const sizeOf = (line: string): number => Buffer.byteLength(JSON.stringify(line)) + 2;

async function masked(lines: readonly string[], mask: Mask): Promise<readonly string[]> {
  const text = lines.join('\n');
  if (sizeOf(text) > MOST_BYTES) return [`(a line of ${text.length} characters: see the file)`];
  return (await mask(text))?.split('\n') ?? lines;
}
