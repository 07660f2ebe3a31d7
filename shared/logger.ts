// The log of a worker: JSON lines with ISO time and level names, each with project and runtimeId, without a secret in any form.
//
//   G1  One line is one write: to a file at once (so that exit, throw, abort and out of memory lose none), to a pipe behind the event loop.
//   G2  Every line goes through the redaction of shared/redaction.ts as a whole: message, fields, error stacks.
//   G3  A destination that takes nothing (full disk, closed pipe) never throws: lines wait up to 1 MiB, more are counted, and the next line that lands is followed by one that says how many were lost and since when.
//   G4  After `reopen` the file of the same name is written: nothing is lost over a rename.
import { fstatSync } from 'node:fs';
import { type DestinationStream, type Logger, levels, pino, stdTimeFunctions } from 'pino';
import sonicBoom from 'sonic-boom';
import type { LogLevel } from './log-level.ts';
import { escapeLine, maskKeys, SecretRegistry } from './redaction.ts';

export type { Logger } from 'pino';

export interface LogOptions {
  /** A file, opened for appending with 0600, or a descriptor (1: stdout). */
  readonly destination: string | number;
  /** Default `info`. */
  readonly level?: LogLevel;
  /** On every line: project, runtimeId and what else applies to the whole process. */
  readonly base: Readonly<Record<string, string | number>>;
  /** Turns a finished line of JSON into what is written, for people at a terminal. Default: the line itself. */
  readonly render?: (line: string) => string;
}

/** The logger of a process and what its owner does with it. */
export interface Log {
  readonly logger: Logger;
  readonly secrets: SecretRegistry;
  setLevel(level: LogLevel): void;
  /** Lines written by level since the start: `svc_log_messages_total`. */
  counts(): Readonly<Record<string, number>>;
  /** Opens the file of that name anew, after a rotation. Nothing for a descriptor. */
  reopen(): void;
  /** Lines kept in memory, the newest last, from number `after` on; `next` is the number to go on from. */
  recent(after: number): { readonly lines: readonly string[]; readonly next: number };
  /** Writes what still waits; for the last moment of a process. Never throws. */
  flush(): void;
}

const WAITING_BYTES = 1024 * 1024;
const LINES_KEPT = 1_000;

export function createLog({ destination, level = 'info', base, render = (line) => line }: LogOptions): Log {
  const secrets = new SecretRegistry();
  const counts: Record<string, number> = { trace: 0, debug: 0, info: 0, warn: 0, error: 0, fatal: 0 };
  const kept: string[] = [];
  let written = 0;
  const sink = openSink(destination);
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    /** Set by pino before each write. */
    lastLevel: 0,
    write(line: string) {
      const label = levels.labels[stream.lastLevel] ?? 'info';
      counts[label] = (counts[label] ?? 0) + 1;
      const safe = escapeLine(secrets.mask(maskKeys(line)));
      kept[written % LINES_KEPT] = safe;
      written += 1;
      sink.write(render(safe));
    },
  } satisfies DestinationStream & { lastLevel: number };
  const logger = pino(
    {
      level,
      base,
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
      },
    },
    stream,
  );
  sink.onRecovered = (lost) => logger.warn(lost, 'log lines were lost');
  return {
    logger,
    secrets,
    setLevel(next) {
      logger.level = next;
    },
    counts: () => ({ ...counts }),
    reopen: () => sink.reopen(),
    recent(after) {
      const first = Math.max(after, written - LINES_KEPT, 0);
      const lines = Array.from(
        { length: Math.max(0, written - first) },
        (_, index) => kept[(first + index) % LINES_KEPT] ?? '',
      );
      return { lines: lines.map((line) => line.trimEnd()), next: written };
    },
    flush: () => sink.flush(),
  };
}

interface Sink {
  write(line: string): void;
  reopen(): void;
  flush(): void;
  onRecovered: (lost: { readonly lostLines: number; readonly lostSince: string; readonly lostReason: string }) => void;
}

function openSink(destination: string | number): Sink {
  const boom = new sonicBoom.SonicBoom({
    dest: destination,
    sync: typeof destination === 'string' || !isPipe(destination),
    maxLength: WAITING_BYTES,
    maxWrite: 65_536,
    mode: 0o600,
  });
  const lost = { lines: 0, since: '', reason: 'the destination did not take them' };
  const quietly = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      lost.reason = codeOf(error);
    }
  };
  const sink: Sink = {
    write: (line) => quietly(() => boom.write(line)),
    reopen: () => {
      if (typeof destination === 'string') quietly(() => boom.reopen());
    },
    flush: () => quietly(() => boom.flushSync()),
    onRecovered: () => {},
  };
  boom.on('error', (error: unknown) => {
    lost.reason = codeOf(error);
  });
  boom.on('drop', () => {
    if (lost.lines === 0) lost.since = new Date().toISOString();
    lost.lines += 1;
  });
  boom.on('write', () => {
    if (lost.lines === 0) return;
    const facts = { lostLines: lost.lines, lostSince: lost.since, lostReason: lost.reason };
    lost.lines = 0;
    setImmediate(() => sink.onRecovered(facts));
  });
  return sink;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false; // a closed descriptor: writes fail one by one and are counted
  }
}
