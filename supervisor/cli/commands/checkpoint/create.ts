// `svc checkpoint create`: the running host makes it; without one the command does, under the writer lock.
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import type { Command, CommandContext } from '../../command.ts';
import { findRunning } from '../../connect/control-client.ts';
import { textOption } from '../../options.ts';
import { byteText } from '../../output/byte-text.ts';
import { shown } from '../../output/printable.ts';
import { progressLine } from '../../output/progress-line.ts';
import { makeStopped } from '../../start/worker-entry.ts';

export interface MadeAnswer {
  readonly name: string;
  readonly bytes: number;
  readonly ms: number;
  readonly holdMs: number;
  /** Values of the database that hold a secret. */
  readonly secretHits: number;
  readonly warnings: readonly string[];
}

const create: Command = {
  noun: 'checkpoint',
  verb: 'create',
  summary: 'Makes a restore point of database, jobs, configuration and code, running or stopped',
  options: [{ flags: '--reason <text>', description: 'Kept in the manifest, shown in lists' }],
  examples: ['svc checkpoint create', 'svc checkpoint create --reason "before the move"'],
  async run(context, _args, options) {
    const reason = textOption(options, 'reason') ?? null;
    const project = context.project();
    await findRunning(project);
    report(context, await stopped(context, { project, reason }));
    return EXIT.ok;
  },
};

async function stopped(
  { env }: CommandContext,
  { project, reason }: { readonly project: string; readonly reason: string | null },
): Promise<MadeAnswer> {
  const line = progressLine();
  try {
    const { manifest, bytes, ms, holdMs, secretHits, warnings } = await makeStopped({
      project,
      environment: env,
      reason,
      onProgress: ({ name, copied, of }) => line.show(`${name}: copying ${Math.floor((100 * copied) / of)} %`),
    });
    return { name: manifest.name, bytes, ms, holdMs, secretHits, warnings };
  } finally {
    line.end();
  }
}

function report({ print, json }: CommandContext, made: MadeAnswer): void {
  if (json) return print.json(made);
  for (const warning of made.warnings) print.note(`${print.color.warn('warning:')} ${shown(warning)}`);
  if (made.secretHits > 0)
    print.note(
      `${print.color.warn('warning:')} ${made.secretHits} values of the database hold a secret; keep this checkpoint as you keep .env`,
    );
  print.text(`${print.color.good(made.name)} made, ${byteText(made.bytes)}, ${(made.ms / 1_000).toFixed(1)} s`);
  print.text(print.color.dim(`svc checkpoint verify ${made.name} proves that it can be restored`));
}

export const commands: Command[] = [create];
