// What the other process managers of the comparison share: folders of their own, environments without secrets or reports to anybody, and an
// end by pid that leaves nothing.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keeper } from '../../bench/load/keeper.ts';
import { lives } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';

/** A process manager that was installed into a folder for this comparison alone. */
export interface Peer {
  readonly keeper: Keeper;
  readonly version: string;
}

const END_MS = 15_000;

export const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `svc-peers-${name}-`));

export const pidIn = (file: string): number => Number(readFileSync(file, 'utf8'));

/** Asks it to end; what is there of it and its children afterwards is killed, by pid, and its folder removed. */
export async function endPeer(pid: number, folder: string, ask: () => Promise<void>): Promise<void> {
  const children = childrenOf(pid);
  await ask().catch(() => {}); // it is killed then
  await until(() => !lives(pid), { what: 'its end', timeoutMs: END_MS }).catch(() => {});
  for (const left of [pid, ...children, ...childrenOf(pid)].filter((one) => lives(one))) kill(left);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended in between
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
