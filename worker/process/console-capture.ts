// Sends output of plugins and packages (`console.*`, `process.stdout.write`, `process.stderr.write`) through the log.
// So every log line is one JSON line with secrets masked. An incomplete line is buffered up to 64 Ki characters.

import { StringDecoder } from 'node:string_decoder';
import { format } from 'node:util';
import type { Log } from '../../shared/log/logger.ts';

const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' } as const;
const STREAMS = { stdout: 'info', stderr: 'warn' } as const;
const LONGEST_LINE = 64 * 1024;

export interface Capture {
  /** Logs an incomplete line. */
  flush(): void;
  /** Restores the original methods, for a command that prints by itself. */
  release(): void;
}

export interface ConsoleCapture extends Capture {
  /** Captures until the process exits, including output of its exit listeners. */
  keepToTheEnd(): void;
}

/** Replaces the printing methods of the global console and `write` of both streams. */
export function captureConsole(log: Log): ConsoleCapture {
  const methods = Object.keys(LEVELS) as (keyof typeof LEVELS)[];
  const before = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) {
    console[method] = (...values: unknown[]) => {
      log.logger[LEVELS[method]]({ source: 'console' }, format(...values));
    };
  }
  const streams = (Object.keys(STREAMS) as (keyof typeof STREAMS)[]).map((name) => captureStream(log, name));
  const flush = (): void => {
    for (const stream of streams) stream.flush();
  };
  return {
    flush,
    keepToTheEnd() {
      flush();
      process.once('exit', () => {
        flush();
        log.flush();
      });
    },
    release() {
      flush();
      for (const stream of streams) stream.release();
      for (const [method, original] of before) console[method] = original;
    },
  };
}

function captureStream(log: Log, source: keyof typeof STREAMS): Capture {
  const stream = process[source];
  const original = stream.write;
  const level = STREAMS[source];
  const decoder = new StringDecoder('utf8');
  let half = '';
  const take = (text: string): void => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) log.text(half + text.slice(0, end), { level, source });
    half = end > 0 ? text.slice(end) : half + text;
    if (half.length > LONGEST_LINE) flush();
  };
  const flush = (): void => {
    if (half !== '') log.text(`${half}\n`, { level, source });
    half = '';
  };
  const write = (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
    take(
      typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    );
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  stream.write = write;
  return {
    flush,
    release() {
      stream.write = original;
    },
  };
}
