// Takes the stack of the main thread from another thread, through an inspector session. Uses no port and no signal.
import { existsSync, readFileSync } from 'node:fs';
import type { Session } from 'node:inspector';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The location of a call, without its arguments. */
export interface StackFrame {
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface CallFrame {
  readonly functionName: string;
  readonly location: {
    readonly scriptId: string;
    readonly lineNumber: number;
    readonly columnNumber?: number | undefined;
  };
}

const PAUSE_MS = 1_500;
const FRAMES = 50;
const NAME_CHARACTERS = 200;

let waiting: Session | undefined;

/** Undefined if the main thread does not pause in time, because it blocks in a system call. */
export async function takeMainStack(): Promise<readonly StackFrame[] | undefined> {
  if (waiting !== undefined) return undefined; // the last request to pause is still open
  const inspector = await import('node:inspector');
  const session = new inspector.Session();
  waiting = session;
  const files = new Map<string, string>();
  const paused = new Promise<readonly CallFrame[]>((resolve) => {
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) => {
      resolve(params.callFrames);
      session.post('Debugger.resume');
      session.post('Debugger.disable');
      session.disconnect();
      waiting = undefined;
    });
  });
  session.connectToMainThread();
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PAUSE_MS));
  const frames = await Promise.race([paused, late]);
  return frames?.slice(0, FRAMES).map((frame) => described(frame, files));
}

/** Aborts the process: its pid 1 survives a SIGKILL of its own (pid_namespaces(7)). No effect while the main thread blocks in a system call. */
export function abortMainThread(): void {
  void import('node:inspector').then(({ Session }) => {
    const session = new Session();
    session.on('Debugger.paused', ({ params: { callFrames } }) =>
      session.post('Debugger.evaluateOnCallFrame', {
        callFrameId: callFrames[0]?.callFrameId ?? '',
        expression: 'globalThis.process.abort()',
      }),
    );
    session.connectToMainThread();
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

function described({ functionName, location }: CallFrame, files: ReadonlyMap<string, string>): StackFrame {
  const url = files.get(location.scriptId) ?? '';
  const place = { file: pathOf(url), line: location.lineNumber + 1, column: (location.columnNumber ?? 0) + 1 };
  return { function: functionName.slice(0, NAME_CHARACTERS) || '(anonymous)', ...(sourceOf(place) ?? place) };
}

function pathOf(url: string): string {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : url.slice(0, NAME_CHARACTERS);
  } catch {
    return url.slice(0, NAME_CHARACTERS);
  }
}

const maps = new Map<string, SourceMap | undefined>();

/** The location in the source, if a source map lies beside the file. */
function sourceOf({ file, line, column }: Omit<StackFrame, 'function'>): Omit<StackFrame, 'function'> | undefined {
  if (!file.startsWith('/')) return undefined;
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
  const entry = maps.get(file)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry)) return undefined;
  return { file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

function readMap(path: string): SourceMap | undefined {
  try {
    return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload) : undefined;
  } catch {
    return undefined; // an unreadable source map
  }
}
