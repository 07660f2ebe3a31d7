// `svc runtime start --once --mode test`: everything is assembled once over a throw-away copy of the database schema. No lock, port, socket or file is left.
import { ERRORS } from '../../../shared/error-codes.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import type { CommandContext } from '../command.ts';
import { loadTasks } from './worker-entry.ts';

/** 0 assembled, 1 not, naming what; 78 where no start would take the configuration: there is a report of that, too. */
export async function startOnce(context: CommandContext, project: string): Promise<ExitCode> {
  const { env, json, print } = context;
  const { assembleOnce } = await loadTasks(context);
  const report = await assembleOnce({ project, mode: 'test', environment: env });
  // The report is a JSON document with and without --json: what reads it is a harness.
  if (json) print.json(report);
  else print.text(JSON.stringify(report, null, 2));
  for (const { component, message, hint } of report.faults) {
    const isNamed = component === '' || message.startsWith(`${component}: `); // of the whole file: no key is meant
    const line = isNamed ? message : `${component}: ${message}`;
    print.note(print.color.bad(hint === undefined || hint === report.error?.hint ? line : `${line}; ${hint}`));
  }
  if (report.error !== null) {
    if (report.error.hint !== null) print.note(report.error.hint);
    return ERRORS[report.error.code].exit;
  }
  return report.ok ? EXIT.ok : EXIT.failed;
}
