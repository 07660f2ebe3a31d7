// The log as plugins and accounts get it: their own fields on every line.

import type { Logger } from '../sdk/index.ts';
import type { Log } from './core.ts';

/** Lines of one plugin or account; an object of fields may come first, as in the SDK. */
export function scopedLog(log: Log, base: object): Logger {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (o: object | string, message?: string): void =>
      typeof o === 'string' ? log[level](base, o) : log[level]({ ...base, ...o }, message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
