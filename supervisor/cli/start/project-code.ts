// Contains project code in the process of a command that loads plugins to check them.
//
//   PROJECT-CODE-1  Its output goes to stderr, with the configuration's secrets masked. stdout holds only the command's result.
//   PROJECT-CODE-2  It cannot block the command forever: a blocked event loop is interrupted.
//   PROJECT-CODE-3  It cannot end the command, neither by `process.exit` nor by an error in a timer after the check.
import { refuseExit } from '../../../shared/process/exit-guard.ts';
import { messageOf } from '../../../shared/svc-error.ts';

/** Lasts for the rest of the process. `mask` replaces all secrets known at that time. */
export function containProjectCode(mask: (text: string) => string): void {
  const write = process.stderr.write.bind(process.stderr) as (...args: unknown[]) => boolean;
  const masked = (chunk: string | Uint8Array, ...rest: unknown[]): boolean =>
    write(mask(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()), ...rest);
  process.stderr.write = masked;
  process.stdout.write = masked;
  refuseExit();
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => {
      if (process.listenerCount(kind) > 1) return; // a running check collects these errors
      process.stderr.write(`warning: code of the project threw outside any handler: ${messageOf(error)}\n`);
    });
  }
}
