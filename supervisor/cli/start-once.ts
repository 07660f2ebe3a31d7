// `svc runtime start --once --mode test`: everything is assembled once over a throw-away copy of the database schema. No lock, port, socket or file is left.
import { EXIT, type ExitCode } from '../../shared/exit-codes.ts';
import type { CommandContext } from './command.ts';
import { loadTasks } from './worker-entry.ts';

/** 0 assembled, 1 not, naming what; 78 by the error of the configuration. */
export async function startOnce(context: CommandContext, project: string): Promise<ExitCode> {
  const { env, json, print } = context;
  const { assembleOnce } = await loadTasks(context);
  const report = await assembleOnce({ project, mode: 'test', environment: env });
  // The report is a JSON document with and without --json: what reads it is a harness.
  if (json) print.json(report);
  else print.text(JSON.stringify(report, null, 2));
  for (const { component, message } of report.faults)
    print.note(print.color.bad(message.startsWith(`${component}: `) ? message : `${component}: ${message}`));
  return report.ok ? EXIT.ok : EXIT.failed;
}
