// Code of plugins runs in processes of svc and does not end them: while this holds, `process.exit` throws. So its end is a fault of that code,
// told with its place, and a code that only svc may end with (0: stay down) means what it says.
import { SvcError } from './svc-error.ts';

/** Until the function that it gives is called, by whoever ends the process. */
export function refuseExit(): () => void {
  const { exit } = process;
  process.exit = (code) => {
    throw new SvcError('plugin_failed', `process.exit(${code ?? ''}) was called, and only svc ends its processes`, {
      hint: 'throw an error instead',
    });
  };
  return () => {
    process.exit = exit;
  };
}
