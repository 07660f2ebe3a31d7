// What can be seen from outside of a worker that has gone silent: kept in .svc/reports/, at most ten.
//
// A blocked event loop answers no signal, so Node's own report cannot be had; the kernel tells whether it burns time (R), waits (S, D) or was stopped (T).
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stableJson, writeFileAtomic } from '../shared/atomic-file.ts';

export interface HangFacts {
  readonly pid: number;
  readonly run: number;
  readonly runtimeId: string | null;
  readonly lastLines: readonly string[];
}

const KEPT = 10;
const STATUS_FIELDS = /^(State|VmRSS|VmSwap|Threads|voluntary_ctxt_switches|nonvoluntary_ctxt_switches):\s+(.+)$/gm;

/** Writes the report; gives its path, or undefined where it cannot be written. */
export function writeHangReport(folder: string, facts: HangFacts): string | undefined {
  const path = join(folder, `hung-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileAtomic(
      path,
      stableJson({ version: 1, at: new Date().toISOString(), ...facts, kernel: kernelView(facts.pid) }),
    );
    const old = readdirSync(folder)
      .filter((name) => name.startsWith('hung-'))
      .sort()
      .slice(0, -KEPT);
    for (const name of old) rmSync(join(folder, name), { force: true });
    return path;
  } catch {
    return undefined; // a full disk must not hold up the kill
  }
}

function kernelView(pid: number): Readonly<Record<string, string>> {
  const status = Object.fromEntries(
    [...read(`/proc/${pid}/status`).matchAll(STATUS_FIELDS)].map(([, name = '', value = '']) => [name, value]),
  );
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return { ...status, waitsIn: read(`/proc/${pid}/wchan`), userTicks: fields[11] ?? '', systemTicks: fields[12] ?? '' };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // no such kernel
  }
}
