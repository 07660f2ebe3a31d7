// Changes that a reload cannot apply, and their error.
import { relative } from 'node:path';
import type { Config } from '../../../shared/config/schema/schema.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** Keys whose change needs a restart. */
const FIXED_KEYS = ['host', 'http/host', 'http/port', 'http/base', 'database', 'supervisor'] as const;

/** The changed keys among them, in dotted form. */
export function changedFixedKeys(next: Config, now: Config): readonly string[] {
  return FIXED_KEYS.filter((key) => JSON.stringify(valueAt(next, key)) !== JSON.stringify(valueAt(now, key))).map(
    (key) => key.replaceAll('/', '.'),
  );
}

/** Clients see the list, so paths are relative to the project. */
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
