// Formats a line of the runtime log for people: date and time as `--since` takes them, level, message, then the remaining fields. Pure.
import { LOG_LEVELS } from './log-level.ts';
import { escapeText } from './redaction.ts';

export interface LogPaint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  dim(text: string): string;
}

const ISO_CHARACTERS = '2026-01-31T12:00:00.000Z'.length;
const HIDDEN: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'project', 'runtimeId', 'process', 'pid']);

/** Formats one line. A line that is no JSON object (a crash of Node, output of a child) is returned escaped. */
export function formatLogLine(line: string, paint: LogPaint): string {
  const entry = parseLogLine(line);
  if (entry === undefined) return escapeText(line);
  const { level, time, msg, err, ...fields } = entry;
  const rest = Object.entries(fields)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) =>
      paint.dim(escapeText(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)),
    );
  const stack =
    typeof err === 'object' && err !== null && 'stack' in err && typeof err.stack === 'string'
      ? `\n${indent(err.stack)}`
      : '';
  const when = typeof time === 'string' ? time.slice(0, ISO_CHARACTERS) : '';
  return (
    [paint.dim(escapeText(when)), colored(String(level), paint), escapeText(String(msg ?? '')), ...rest].join(' ') +
    stack
  );
}

/** The object of a JSON line. Undefined for other text. */
export function parseLogLine(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined; // half a line of a process that died while writing
  }
}

/** Whether a level is at least as severe as another. An unknown level passes. */
export function isAtLeast(level: unknown, least: string): boolean {
  const order: readonly unknown[] = LOG_LEVELS;
  const index = order.indexOf(level);
  return index === -1 || index >= order.indexOf(least);
}

function colored(level: string, paint: LogPaint): string {
  const text = escapeText(level).padEnd(5);
  if (level === 'error' || level === 'fatal') return paint.bad(text);
  if (level === 'warn') return paint.warn(text);
  return level === 'info' ? paint.good(text) : paint.dim(text);
}

const indent = (stack: string): string =>
  stack
    .split('\n')
    .map((line) => `    ${escapeText(line)}`)
    .join('\n');
