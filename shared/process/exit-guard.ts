// Code of plugins runs in processes of svc and does not end them: while this holds, `process.exit` throws. So its end is a fault of that code,
// told with its place, and a code that only svc may end with (0: stay down) means what it says.
import { SvcError } from '../svc-error.ts';

/** Until the function that it gives is called, by whoever ends the process. */
export function refuseExit(): () => void {
  const ways = process as unknown as Ways;
  const { exit, reallyExit } = ways;
  ways.exit = (code) => {
    throw refusal('exit', code);
  };
  // Packages reach for what `exit` ends with. An `exit` that somebody kept from before the guard may go on to it.
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
