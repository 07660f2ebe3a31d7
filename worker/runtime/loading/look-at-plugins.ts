// For `svc doctor`: plugins that a start in production would not find, and those whose compiled code is outdated. Runs no code of them.
import { coerceError } from '../../../shared/svc-error.ts';
import type { PluginsLook, TaskOptions } from '../once-types.ts';
import { placed } from './assembly-errors.ts';
import { resolvePlugin } from './find-plugin.ts';
import { staleWarning } from './stale-sources.ts';
import { configOf, usesIn } from './untrusted-files.ts';

export function lookAtPlugins({ project, environment }: TaskOptions): PluginsLook {
  const loaded = configOf({ project, environment });
  const missing: PluginsLook['missing'][number][] = [];
  const stale: string[] = [];
  if (loaded === undefined) return { missing, stale };
  for (const [slot, use] of usesIn(loaded)) {
    try {
      const plugin = resolvePlugin(use, { project, mode: 'production' });
      const warning = plugin.source === 'project' ? staleWarning(plugin.file, project) : undefined;
      if (warning !== undefined) stale.push(warning);
    } catch (error) {
      const { code, message, hint } = coerceError(placed(error, slot, loaded));
      const isNamed = code === 'config_invalid';
      missing.push({
        message: isNamed ? message : `plugins.${slot}: ${message}`,
        fix: isNamed || hint === undefined ? 'svc config check' : hint,
      });
    }
  }
  return { missing, stale };
}
