// Whether SIGHUP, the hang-up of a terminal, concerns this process. A process that began with SIGHUP ignored (`nohup`) keeps ignoring it.
//
// Node resets every signal before JavaScript runs, so the process itself cannot read how it began. Other signs say it:
//   - No standard stream is a terminal. `nohup` takes them away, and so does anybody who detaches a process.
//   - The shell's variable `_` names `nohup`. On macOS `nohup` leaves stdin on the terminal.
//   - The parent ignores SIGHUP (Linux). A shell hands `trap '' HUP` down to its commands.
// Not visible: `trap '' HUP` in a shell that this process has replaced (`exec`), with a stream still on the terminal.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isatty } from 'node:tty';

export interface Birth {
  readonly isTerminal: (descriptor: number) => boolean;
  /** The variable `_`. */
  readonly command: string | undefined;
  /** `/proc/<parent>/status`. Undefined: not Linux, or the parent has ended. */
  readonly parentStatus: string | undefined;
}

const STREAMS = [0, 1, 2] as const;

export function ignoresHangup({ isTerminal, command, parentStatus }: Birth): boolean {
  if (!STREAMS.some(isTerminal)) return true;
  if (command !== undefined && basename(command) === 'nohup' && !isTerminal(1)) return true;
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(parentStatus ?? '')?.[1] ?? '0';
  return (BigInt(`0x${ignored}`) & 1n) === 1n; // SIGHUP is signal 1, the lowest bit
}

/** To be read before the parent can end. */
export const hangupIgnoredHere = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  ignoresHangup({ isTerminal: isatty, command: environment['_'], parentStatus: parentStatus() });

function parentStatus(): string | undefined {
  try {
    return readFileSync(`/proc/${process.ppid}/status`, 'latin1');
  } catch {
    return undefined;
  }
}
