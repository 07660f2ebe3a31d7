// What a reload cannot take in, and how that is said.
import { relative } from 'node:path';
import type { Config } from '../../../shared/config/schema/schema.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** Keys that a running process cannot take in: changing them needs a restart. */
const FIXED_KEYS = ['host', 'http/host', 'http/port', 'http/base', 'database', 'supervisor'] as const;

/** Those that differ, as people write them. */
export function changedFixedKeys(next: Config, now: Config): readonly string[] {
  return FIXED_KEYS.filter((key) => JSON.stringify(valueAt(next, key)) !== JSON.stringify(valueAt(now, key))).map(
    (key) => key.replaceAll('/', '.'),
  );
}

/** The list goes to clients: it names files as the project sees them, not where that lies on the machine. */
export function restartRequired(project: string, paths: readonly string[], keys: readonly string[]): SvcError {
  const files = paths.map((path) => relative(project, path));
  return new SvcError('restart_required', `a reload cannot take in: ${[...keys, ...files].join(', ')}`, {
    hint: 'svc runtime restart (or svc runtime reload --or-restart)',
    details: { files, keys },
  });
}

function valueAt(config: unknown, path: string): unknown {
  return path.split('/').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config);
}
