// `svc config check`: reads svc.config.yml and .env as a start would, and reports every fault. Starts and writes nothing.
// Plugin code is loaded, but only registers: its own schemas check the keys of plugins.
import { type ConfigFault, faultLine } from '../../../../shared/config/fault.ts';
import { MODES, type Mode } from '../../../../shared/config/mode.ts';
import { CONFIG_FILE } from '../../../../shared/files/paths.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';
import { loadTasks } from '../../start/worker-entry.ts';

export const command: Command = {
  noun: 'config',
  verb: 'check',
  summary: 'Checks svc.config.yml and .env, and tells every fault with its line',
  options: [
    {
      flags: '--mode <mode>',
      description: 'As a start in development or production would see it; test: one with --once',
      default: 'production',
    },
  ],
  examples: ['svc config check', 'svc config check --mode development --json'],
  async run(context, _args, options) {
    const project = context.project();
    try {
      const { checkProject } = await loadTasks(context);
      const { loaded, warnings, accounts } = await checkProject({
        project,
        mode: modeOf(options['mode']),
        environment: context.env,
      });
      if (accounts.length > 0)
        return tell(context, {
          error: {
            code: 'config_invalid',
            message: accounts.map(faultLine).join('\n'),
            hint: 'svc doctor --endpoint <name> asks the platform about one that can',
          },
          faults: accounts,
          warnings,
        });
      context.print.json({
        ok: true,
        file: loaded.file,
        version: loaded.version,
        faults: [],
        warnings,
      });
      warn(context, warnings);
      context.print.text(context.print.color.good(`${CONFIG_FILE} is valid (${loaded.version.slice(0, 19)})`));
      return EXIT.ok;
    } catch (error) {
      return refused(error, context);
    }
  },
};

/** The mode given by an option. Throws `usage`. */
export function modeOf(value: unknown): Mode {
  const mode = MODES.find((name) => name === value);
  if (mode === undefined)
    throw new SvcError('usage', `--mode must be one of ${MODES.join(', ')}`, {
      hint: 'svc config check --mode production',
    });
  return mode;
}

function refused(error: unknown, context: CommandContext): typeof EXIT.config {
  if (!(error instanceof SvcError) || !Array.isArray(error.details['faults'])) throw error;
  const { faults, warnings = [] } = error.details as {
    readonly faults: readonly ConfigFault[];
    readonly warnings?: readonly string[];
  };
  return tell(context, { error: { code: error.code, message: error.message, hint: error.hint }, faults, warnings });
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | undefined };
  readonly faults: readonly ConfigFault[];
  readonly warnings: readonly string[];
}

function tell(context: CommandContext, { error, faults, warnings }: Refusal): typeof EXIT.config {
  const { print } = context;
  print.json({ ok: false, error, faults, warnings });
  for (const fault of faults) print.note(print.color.bad(faultLine(fault)));
  warn(context, warnings);
  if (error.hint !== undefined) print.note(error.hint);
  return EXIT.config;
}

function warn({ print }: CommandContext, warnings: readonly string[]): void {
  for (const warning of warnings) print.note(print.color.warn(`warning: ${warning}`));
}
