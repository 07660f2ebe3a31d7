// The keys of `release` for a step. A configuration that cannot be loaded stops no step: a release, or its way back, may be what mends it.
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';

interface ReleaseSettings {
  readonly windowHours: number;
  readonly readySeconds: number;
}

const FAULTS: ReadonlySet<string> = new Set(['config_invalid', 'secret_invalid']);

/** The defaults, with a note, where the configuration has a fault. */
export async function releaseSettings({ project, env, print }: CommandContext): Promise<ReleaseSettings> {
  const { loadConfig } = await import('../../../shared/config/load.ts');
  try {
    return loadConfig({ project: project(), mode: 'production', environment: env, servesNothing: true }).config.release;
  } catch (error) {
    if (!(error instanceof SvcError && FAULTS.has(error.code))) throw error;
    const { configSchema } = await import('../../../shared/config/schema/schema.ts');
    const keys: Readonly<Record<keyof ReleaseSettings, object>> = configSchema.properties.release.properties;
    const fallback = (key: keyof ReleaseSettings): number => Number((keys[key] as { default?: unknown }).default);
    print.note(`the configuration cannot be loaded, so keys of release have their defaults: ${error.message}`);
    return { windowHours: fallback('windowHours'), readySeconds: fallback('readySeconds') };
  }
}
