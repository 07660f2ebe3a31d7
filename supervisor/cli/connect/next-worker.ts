// Waits for the next worker after a requested restart, and prints the result.
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import type { Printer } from '../command.ts';
import { nextStep } from '../output/status-text.ts';
import { type WaitOptions, waitForReady } from './wait-for-ready.ts';

export interface NextWorkerOptions extends Omit<WaitOptions, 'notRuntimeId'> {
  readonly project: string;
  /** The worker that is being replaced. */
  readonly former: string | null;
}

export async function untilNextWorker(
  print: Printer,
  { project, former, ...options }: NextWorkerOptions,
): Promise<ExitCode> {
  print.note(former === null ? 'starting' : `restarting ${former}`);
  const { status, ready, reasons } = await waitForReady(project, {
    ...options,
    notRuntimeId: former,
    say: print.note,
  });
  print.json({
    ready,
    formerRuntimeId: former,
    runtimeId: status?.runtimeId ?? null,
    pid: status?.pid ?? null,
    supervisorPid: status?.supervisorPid ?? null,
    state: status?.state ?? null,
    reasons,
  });
  if (ready) {
    print.text(print.color.good(`ready, pid ${status?.pid}, runtime ${status?.runtimeId}`));
    return EXIT.ok;
  }
  print.text(print.color.bad(reasons.join('; ')));
  const step = status === undefined ? undefined : nextStep(status);
  const again = status === undefined ? '; nothing answers: `svc runtime start --daemon` starts a daemon anew' : '';
  print.note(step ?? `\`svc runtime logs\` shows why${again}`);
  return EXIT.failed;
}
