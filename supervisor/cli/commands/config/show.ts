// `svc config show`: the effective configuration with the source of each value. Secrets are shown as ${NAME}.
import { effectiveValues, maskedConfig } from '../../../../shared/config/effective.ts';
import { type LoadedConfig, loadConfig } from '../../../../shared/config/load.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import type { Command } from '../../command.ts';
import { modeOf } from './check.ts';

export const command: Command = {
  noun: 'config',
  verb: 'show',
  summary: 'Prints the effective configuration with the source of each value, secrets as ${NAME}',
  options: [
    {
      flags: '--mode <mode>',
      description: 'As a start in development or production would see it; test: one with --once',
      default: 'development',
    },
  ],
  examples: ['svc config show', 'svc config show --json'],
  async run({ project, env, print, json }, _args, options) {
    const mode = modeOf(options['mode']);
    const loaded = loadConfig({ project: project(), mode, environment: env, servesNothing: true });
    for (const warning of loaded.warnings) print.note(print.color.warn(`warning: ${warning}`));
    if (json) print.json(showDocument(loaded));
    else print.text(await showYaml(loaded));
    return EXIT.ok;
  },
};

/** Output of `--json`. */
export function showDocument(loaded: LoadedConfig): Readonly<Record<string, unknown>> {
  const sources = effectiveValues(loaded).map(({ path, source, variables }) => [
    path,
    variables.length > 0 ? { source, variables } : { source },
  ]);
  return {
    file: loaded.file,
    version: loaded.version,
    config: maskedConfig(loaded),
    sources: Object.fromEntries(sources),
    warnings: loaded.warnings,
  };
}

/** YAML that is itself a valid configuration, with the source of each value as a comment. */
export async function showYaml(loaded: LoadedConfig): Promise<string> {
  const { commentedYaml } = await import('../../../../shared/config/commented-yaml.ts');
  const comments = effectiveValues(loaded).map(({ path, source, variables, taken }) => {
    const origin = (name: string): string => (taken.includes(name) ? loaded.origin(name) : undefined) ?? 'default';
    const names = variables.map((name) => `${name} (${origin(name)})`).join(', ');
    return { path: pathOf(path), text: source === 'env' ? `env ${names}` : source };
  });
  return commentedYaml(maskedConfig(loaded), comments);
}

const pathOf = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
