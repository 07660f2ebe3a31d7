// Keeps plugin code from ending the process: while the guard is active, `process.exit` throws.
// The call is then reported as a fault with its source line. Exit codes with a meaning, such as 0 (stay down), remain svc's own.
import { SvcError } from '../svc-error.ts';

/** Active until the returned function is called by the code that ends the process. */
export function refuseExit(): () => void {
  const ways = process as unknown as Ways;
  const { exit, reallyExit } = ways;
  ways.exit = (code) => {
    throw refusal('exit', code);
  };
  // Some packages call `reallyExit`, which `exit` uses internally. An `exit` that was saved before the guard may still use it.
  ways.reallyExit = (code) => {
    if (ways._exiting === true) return reallyExit.call(process, code);
    throw refusal('reallyExit', code);
  };
  return () => {
    Object.assign(ways, { exit, reallyExit });
  };
}

interface Ways {
  exit(code?: number): never;
  reallyExit(code?: number): never;
  readonly _exiting?: boolean;
}

const refusal = (name: string, code: unknown): SvcError =>
  new SvcError('plugin_failed', `process.${name}(${code ?? ''}) was called, and only svc ends its processes`, {
    hint: 'throw an error instead',
  });
