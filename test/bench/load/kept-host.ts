// How a keeper brings a host back, measured on the real host: time from SIGKILL to an answer, its memory, its commands. Every time stands beside a baseline of the same round.
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { type ByHand, foregroundByHand, type HostProject, hostProject, killed, startByHand } from './host-project.ts';
import { type Keeper, type KeptHost, run } from './keeper.ts';
import { answers, median, residentMiB } from './support.ts';

export interface Pair {
  readonly value: number;
  readonly baseline: number;
}

const SETTLE_MS = 2_000;
/** A worker that ran for a second dies for the first time; see host-project.ts. */
export const HEALTHY_MS = 1_300;

/** A project and its keeper for as long as `use` runs. */
export async function withHost<T>(
  keeper: Keeper,
  supervisor: readonly string[],
  use: (project: HostProject, kept: KeptHost) => Promise<T>,
): Promise<T> {
  const project = await hostProject(supervisor);
  try {
    const kept = await keeper.host(project);
    try {
      await project.readyAfter(0);
      return await use(project, kept);
    } finally {
      await kept.stop();
    }
  } finally {
    await project.remove();
  }
}

export interface RecoveryOptions {
  readonly rounds: number;
  readonly byHand: ByHand;
  /** Resolves when the next kill may come; default: after a second of running. */
  readonly settled?: () => Promise<void>;
}

/** SIGKILL to 200 beside the same program started by hand, in a project of its own. */
export async function recovery(project: HostProject, { rounds, byHand, settled }: RecoveryOptions): Promise<Pair> {
  const hand = await hostProject();
  const recovered: number[] = [];
  const started: number[] = [];
  try {
    await startByHand(hand, byHand); // makes the database
    for (let round = 0; round < rounds; round += 1) {
      started.push(await startByHand(hand, byHand));
      await pause(HEALTHY_MS);
      await settled?.();
      const former = project.workerPid();
      recovered.push(await project.killToAnswer());
      await project.readyAfter(former);
    }
  } finally {
    await hand.remove();
  }
  return { value: median(recovered), baseline: median(started) };
}

/** Idle memory of the keeper, beside a Node that does nothing. */
export async function idleMemory(kept: KeptHost): Promise<Pair> {
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await pause(SETTLE_MS);
  const pair = { value: residentMiB(kept.keeperPid), baseline: residentMiB(bare.pid ?? 0) };
  await killed(bare);
  return pair;
}

/** `status` from prompt to prompt, beside a Node that does nothing. */
export async function statusRoundTrip(kept: KeptHost, rounds: number): Promise<Pair> {
  const status: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timed(() => run(process.execPath, ['-e', '0'])));
    status.push(await timed(() => kept.status()));
  }
  return { value: median(status), baseline: median(bare) };
}

export interface StartFigures {
  readonly promptMs: number;
  readonly readyMs: number;
  /** The foreground started by hand, to ready. */
  readonly foregroundMs: number;
}

/** From nothing to a host that is kept up. */
export async function startToReady(keeper: Keeper, rounds: number): Promise<StartFigures> {
  const rows: StartFigures[] = [];
  const project = await hostProject();
  try {
    await startByHand(project, foregroundByHand); // makes the database
    for (let round = 0; round < rounds; round += 1) {
      const foregroundMs = await startByHand(project, foregroundByHand, '/pub/ready');
      const startedAt = performance.now();
      const ready = answers(project.port, '/pub/ready', startedAt);
      const kept = await keeper.host(project);
      const promptMs = performance.now() - startedAt;
      rows.push({ promptMs, readyMs: await ready, foregroundMs });
      await kept.stop();
    }
  } finally {
    await project.remove();
  }
  const of = (key: keyof StartFigures): number => median(rows.map((row) => row[key]));
  return { promptMs: of('promptMs'), readyMs: of('readyMs'), foregroundMs: of('foregroundMs') };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
