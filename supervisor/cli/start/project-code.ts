// Code of the project in the process of a command, which loads plugins to check them.
//
//   P1  What it prints goes to stderr, without a secret of the configuration: stdout holds the result of the command and nothing else.
//   P2  It does not hold the command up for ever: worker/runtime/loading/busy-code.ts.
//   P3  It does not end the command, neither by `process.exit` nor by what its timers throw once the check is done.
import { refuseExit } from '../../../shared/process/exit-guard.ts';
import { messageOf } from '../../../shared/svc-error.ts';

/** For the rest of the process. `mask` knows the secrets that there are by then. */
export function containProjectCode(mask: (text: string) => string): void {
  const write = process.stderr.write.bind(process.stderr) as (...args: unknown[]) => boolean;
  const masked = (chunk: string | Uint8Array, ...rest: unknown[]): boolean =>
    write(mask(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()), ...rest);
  process.stderr.write = masked;
  process.stdout.write = masked;
  refuseExit();
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => {
      if (process.listenerCount(kind) > 1) return; // a check that collects them is under way
      process.stderr.write(`warning: code of the project threw outside any handler: ${messageOf(error)}\n`);
    });
  }
}
