// How a keeper brings a host back, measured on the real host: time from SIGKILL to an answer, connections over a restart, its memory, its
// commands. Every time stands beside a baseline of the same round.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type SteadyTally, sendSteadily } from '../support/steady-requests.ts';
import { foregroundByHand, type HostProject, hostProject } from './host-project.ts';
import { type Keeper, type KeptHost, run } from './keeper.ts';
import { answers, median, residentMiB } from './support.ts';

export interface Pair {
  readonly value: number;
  readonly baseline: number;
}

const SETTLE_MS = 2_000;
/** A worker that ran for a second dies for the first time; see host-project.ts. */
const HEALTHY_MS = 1_300;
const CONNECTIONS_PER_SECOND = 200;
const AROUND_MS = 700;
/** A connection attempt that the kernel dropped is repeated after a second. */
const LATE_MS = 1_000;

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
  readonly byHand: (project: HostProject) => Promise<number>;
  /** Resolves when the next kill may come; default: after a second of running. */
  readonly settled?: () => Promise<void>;
}

/** SIGKILL to 200 beside the same program started by hand, in a project of its own. */
export async function recovery(project: HostProject, { rounds, byHand, settled }: RecoveryOptions): Promise<Pair> {
  const hand = await hostProject();
  const killed: number[] = [];
  const started: number[] = [];
  try {
    await byHand(hand); // makes the database
    for (let round = 0; round < rounds; round += 1) {
      started.push(await byHand(hand));
      await pause(HEALTHY_MS);
      await settled?.();
      const former = project.workerPid();
      killed.push(await project.killToAnswer());
      await project.readyAfter(former);
    }
  } finally {
    await hand.remove();
  }
  return { value: median(killed), baseline: median(started) };
}

/** 200 new connections a second from before a restart until after it; `startMs` is what a start of the worker takes. */
export async function connectionsOver(
  project: HostProject,
  { startMs, restart }: { readonly startMs: number; readonly restart: () => Promise<void> },
): Promise<SteadyTally> {
  await pause(HEALTHY_MS);
  const former = project.workerPid();
  const url = `http://127.0.0.1:${project.port}/pub/health`;
  const load = sendSteadily(url, CONNECTIONS_PER_SECOND, startMs + LATE_MS);
  await pause(AROUND_MS);
  await restart();
  await project.readyAfter(former);
  await pause(AROUND_MS);
  return load.end();
}

/** Idle memory of the keeper, beside a Node that does nothing. */
export async function idleMemory(kept: KeptHost): Promise<Pair> {
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await pause(SETTLE_MS);
  const pair = { value: residentMiB(kept.keeperPid), baseline: residentMiB(bare.pid ?? 0) };
  await ended(bare);
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
    await foregroundByHand(project); // makes the database
    for (let round = 0; round < rounds; round += 1) {
      const foregroundMs = await foregroundByHand(project, '/pub/ready');
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

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
