// The log of a worker: JSON lines with ISO time, level name, project and runtimeId. No line holds a secret.
//
//   LOGGER-1  One line is one write. A file is written synchronously, so exit, throw, abort and out of memory lose no line.
//             A pipe is written asynchronously, so that its reader cannot block the event loop.
//   LOGGER-2  Secrets are masked in the finished line: message, fields and error stacks.
//   LOGGER-3  A destination that takes nothing (full disk, closed pipe) never throws. Up to 1 MiB of lines waits; further lines are counted.
//             Once the destination works again, one line reports the lost lines and the period.
//   LOGGER-4  `reopen` opens the file of the same name again. No line is lost when the file is renamed.
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
  /** A file, opened for appending with mode 0600, or a descriptor (1: stdout). */
  readonly destination: string | number;
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Added to every line: project, runtimeId and other facts about the process. */
  readonly base: Readonly<Record<string, string | number>>;
  /** Formats a finished JSON line, for people at a terminal. Default: the line itself. */
  readonly render?: (line: string) => string;
}

/** The logger of a process, and the operations of its owner. */
export interface Log {
  readonly logger: Logger;
  readonly secrets: SecretRegistry;
  setLevel(level: LogLevel): void;
  /** The host's name, in every line from now on: the configuration gives it, and a reload can change it. */
  setProject(project: string): void;
  /** Logs text that other code printed, one log line for each line. The text must end with a line feed. */
  text(text: string, from: { readonly level: 'info' | 'warn'; readonly source: string }): void;
  /** Lines written since the start, by level: `svc_log_messages_total`. */
  counts(): Readonly<Record<string, number>>;
  /** Reopens the file after a rotation. No effect on a descriptor. */
  reopen(): void;
  /** Lines kept in memory from number `after` on, newest last. `next` is the number to continue from. */
  recent(after: number): { readonly lines: readonly string[]; readonly next: number };
  /** Writes waiting lines before the process ends. Returns what a file did not take. Never throws and never takes long. */
  flush(): LogOutage | undefined;
  /** Resolves when a pipe has taken all waiting lines. */
  drained(): Promise<void>;
}

export function createLog({ destination, level = 'info', base, render }: LogOptions): Log {
  const secrets = new SecretRegistry();
  const counts: Record<string, number> = { trace: 0, debug: 0, info: 0, warn: 0, error: 0, fatal: 0 };
  const kept = new RecentLines();
  const fields = { ...base };
  const stamper = new LineStamper(fields);
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
      base: null,
      mixin: () => ({ ...fields }),
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
    setProject(project) {
      fields['project'] = project;
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

/** Plugins may throw anything: frozen objects, throwing getters, endless causes. */
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
