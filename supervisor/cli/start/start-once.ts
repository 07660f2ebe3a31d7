// `svc runtime start --once --mode test`: builds the whole host once on a temporary copy of the database schema. Leaves no lock, port or file.
import { ERRORS } from '../../../shared/error-codes.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import type { CommandContext } from '../command.ts';
import { faultText, onceText } from '../output/once-text.ts';
import { loadTasks } from './worker-entry.ts';

/** 0 if the host was built, 1 with the faults if not. 78 for a configuration that no start accepts; a report is printed in that case, too. */
export async function startOnce(context: CommandContext, project: string): Promise<ExitCode> {
  const { env, json, interactive, print } = context;
  const { assembleOnce } = await loadTasks(context);
  const report = await assembleOnce({ project, mode: 'test', environment: env });
  // In a pipe the report is JSON with and without --json, because test harnesses read it.
  if (json) print.json(report);
  else if (interactive) for (const line of onceText(report, print.color)) print.text(line);
  else print.text(JSON.stringify(report, null, 2));
  for (const { hint, ...fault } of report.faults)
    print.note(
      print.color.bad(faultText(hint === undefined || hint === report.error?.hint ? fault : { ...fault, hint })),
    );
  if (report.error !== null) {
    if (report.error.hint !== null) print.note(report.error.hint);
    return ERRORS[report.error.code].exit;
  }
  return report.ok ? EXIT.ok : EXIT.failed;
}
