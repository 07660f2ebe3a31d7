// The log of a worker: JSON lines with ISO time and level names, each with project and runtimeId, without a secret in any form.
//
//   G1  One line is one write: to a file at once (so that exit, throw, abort and out of memory lose none), to a pipe behind the event loop.
//   G2  Every line goes through the redaction of shared/log/redaction.ts as a whole: message, fields, error stacks.
//   G3  A destination that takes nothing (full disk, closed pipe) never throws: lines wait up to 1 MiB, more are counted, and one line says how many were lost, from when to when, once it takes lines again.
//   G4  After `reopen` the file of the same name is written: nothing is lost over a rename.
import { fstatSync } from 'node:fs';
import { type DestinationStream, type Logger, levels, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogOutage } from '../api/ipc.ts';
import { messageOf } from '../svc-error.ts';
import type { LogLevel } from './log-level.ts';
import { LogPipe } from './log-pipe.ts';
import { LogSink, outageMessage } from './log-sink.ts';
import { LineStamper } from './log-text.ts';
import { RecentLines } from './recent-lines.ts';
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
  /** Lines of text that something else has printed, each as a line of the log; the text ends with a line feed. */
  text(text: string, from: { readonly level: 'info' | 'warn'; readonly source: string }): void;
  /** Lines written by level since the start: `svc_log_messages_total`. */
  counts(): Readonly<Record<string, number>>;
  /** Opens the file of that name anew, after a rotation. Nothing for a descriptor. */
  reopen(): void;
  /** Lines kept in memory, the newest last, from number `after` on; `next` is the number to go on from. */
  recent(after: number): { readonly lines: readonly string[]; readonly next: number };
  /** Writes what still waits, for the last moment of a process; gives what a file did not take. Never throws, never takes long. */
  flush(): LogOutage | undefined;
  /** Resolves when a pipe has taken what waited. */
  drained(): Promise<void>;
}

export function createLog({ destination, level = 'info', base, render }: LogOptions): Log {
  const secrets = new SecretRegistry();
  const counts: Record<string, number> = { trace: 0, debug: 0, info: 0, warn: 0, error: 0, fatal: 0 };
  const kept = new RecentLines();
  const stamper = new LineStamper(base);
  const sink = openSink(destination, (outage) => tell(logger, outage));
  const take = (label: string, text: string | Buffer, lines: number): void => {
    counts[label] = (counts[label] ?? 0) + lines;
    kept.add(text, lines);
  };
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    /** Set by pino before each write. */
    lastLevel: 0,
    write(line: string) {
      const safe = escapeLine(secrets.mask(maskKeys(line)));
      take(levels.labels[stream.lastLevel] ?? 'info', safe, 1);
      sink.write(render === undefined ? safe : render(safe));
    },
  } satisfies DestinationStream & { lastLevel: number };
  const logger = pino(
    {
      level,
      base,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
    },
    stream,
  );
  return {
    logger,
    secrets,
    setLevel(next) {
      logger.level = next;
    },
    text(text, from) {
      if (!logger.isLevelEnabled(from.level)) return;
      for (const { block, lines } of stamper.blocks(secrets.mask(text), from)) {
        take(from.level, block, lines);
        sink.write(render === undefined ? block : linesOf(block).map(render).join(''));
      }
    },
    counts: () => ({ ...counts }),
    reopen: () => (sink instanceof LogSink ? sink.reopen() : undefined),
    recent: (after) => kept.since(after),
    flush: () => sink.flush() ?? undefined,
    drained: () => (sink instanceof LogPipe ? sink.drained() : Promise.resolve()),
  };
}

/** Plugins throw what they like: frozen, with getters that throw, with causes without end. */
function errorFields(error: unknown): unknown {
  try {
    return stdSerializers.err(error as Error);
  } catch {
    const { message, stack } = plainError(error);
    return { type: 'Error', message, stack };
  }
}

function plainError(error: unknown): { readonly message: string; readonly stack: string } {
  const message = messageOf(error);
  try {
    return { message, stack: String((error as Error).stack) };
  } catch {
    return { message, stack: message };
  }
}

const linesOf = (block: Buffer): string[] => block.toString().slice(0, -1).split('\n');

const openSink = (destination: string | number, onRecovered: (outage: LogOutage) => void): LogSink | LogPipe =>
  typeof destination === 'number' && isPipe(destination)
    ? new LogPipe({ destination, onRecovered })
    : new LogSink({ destination, onRecovered });

const tell = (logger: Logger, outage: LogOutage): void => logger.warn(outage, outageMessage(outage));

function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false; // a closed descriptor: writes fail one by one and are counted
  }
}
