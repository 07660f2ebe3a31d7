// The logger of plugins and accounts: adds their fields to every line.

import type { Logger } from '../sdk/index.ts';
import type { Log } from './core.ts';

/** The logger of one plugin or account. As in the SDK, an object of fields may come before the message. */
export function scopedLog(log: Log, base: object): Logger {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (o: object | string, message?: string): void =>
      typeof o === 'string' ? log[level](base, o) : log[level]({ ...base, ...o }, message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
