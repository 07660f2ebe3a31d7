// `console.*` of plugins and packages goes through the log, so that a log line is always one JSON line without a secret.
import { format } from 'node:util';
import type { Logger } from '../shared/logger.ts';

const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' } as const;

/** Replaces the printing methods of the global console; gives them back when called. */
export function captureConsole(logger: Logger): () => void {
  const methods = Object.keys(LEVELS) as (keyof typeof LEVELS)[];
  const before = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) {
    console[method] = (...values: unknown[]) => {
      logger[LEVELS[method]]({ source: 'console' }, format(...values));
    };
  }
  return () => {
    for (const [method, original] of before) console[method] = original;
  };
}
