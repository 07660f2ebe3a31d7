// 200 new connections a second over the restarts of a host, and what became of each, beside the same ends by hand under the same load in the
// same rounds: there the next start comes once the former process is gone, and nobody holds the address meanwhile.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type SteadyRequests, type SteadyTally, sendSteadily } from '../support/steady-requests.ts';
import { type ByHand, type HostProject, hostProject, killed, unlessEnded } from './host-project.ts';
import { HEALTHY_MS } from './kept-host.ts';
import { answers } from './support.ts';

/** A way in which a host comes to its next start. */
export interface Restart {
  /** Of the host that is kept up. */
  readonly kept: () => Promise<void>;
  /** The same end of one that was started by hand. */
  readonly byHand: (child: ChildProcess, project: HostProject) => Promise<void>;
}

export interface Connections {
  readonly sent: number;
  readonly refused: number;
  /** The former process had accepted them. */
  readonly cut: number;
  /** Answered, but after more than `limitMs`. */
  readonly late: number;
  readonly others: number;
  readonly slowestMs: number;
  readonly limitMs: number;
  /** By hand: the longest time between the last answer of one process and the first of the next, and what got none meanwhile. */
  readonly byHandMs: number;
  readonly byHandRefused: number;
}

export const RESTARTS = 3;
/** Who keeps a host up may take this much longer than a start by hand (row 1 of the faults). */
const SLACK_MS = 8;
const PER_SECOND = 200;
const AROUND_MS = 700;

/**
 * A request is late when it waited longer than a restart by hand takes, and the 8 ms. The slowest of hundreds stands beside the slowest of as
 * many restarts by hand: a median there would call the noise of the machine late.
 */
export async function connectionsOver(
  project: HostProject,
  { byHand, restart }: { readonly byHand: ByHand; readonly restart: Restart },
): Promise<Connections> {
  const hand = await hostProject();
  const outages: { readonly ms: number; readonly refused: number }[] = [];
  const tallies: SteadyTally[] = [];
  try {
    for (let round = 0; round < RESTARTS; round += 1) {
      outages.push(await outageByHand(hand, byHand, restart.byHand));
      tallies.push(await tallyOver(project, restart.kept));
    }
  } finally {
    await hand.remove();
  }
  const sum = (of: (tally: SteadyTally) => number): number => tallies.reduce((all, tally) => all + of(tally), 0);
  const byHandMs = Math.max(...outages.map(({ ms }) => ms));
  const limitMs = byHandMs + SLACK_MS;
  const waits = tallies.flatMap(({ waitsMs }) => waitsMs);
  return {
    sent: sum(({ sent }) => sent),
    refused: sum(({ refused }) => refused),
    cut: sum(({ cut }) => cut),
    late: waits.filter((ms) => ms > limitMs).length,
    others: sum(({ others }) => others.length),
    slowestMs: Math.max(...waits),
    limitMs,
    byHandMs,
    byHandRefused: outages.reduce((all, { refused }) => all + refused, 0),
  };
}

const loadOn = ({ port }: HostProject): SteadyRequests =>
  sendSteadily(`http://127.0.0.1:${port}/pub/health`, PER_SECOND);

async function tallyOver(project: HostProject, restart: () => Promise<void>): Promise<SteadyTally> {
  await pause(HEALTHY_MS);
  const former = project.workerPid();
  const load = loadOn(project);
  await pause(AROUND_MS);
  await restart();
  await project.readyAfter(former);
  await pause(AROUND_MS);
  return load.end();
}

async function outageByHand(
  hand: HostProject,
  byHand: ByHand,
  end: Restart['byHand'],
): Promise<{ readonly ms: number; readonly refused: number }> {
  const former = byHand(hand);
  await unlessEnded(former, answers(hand.port, '/pub/ready', performance.now()));
  await pause(HEALTHY_MS);
  const load = loadOn(hand);
  await pause(AROUND_MS);
  const gone = once(former, 'exit');
  await end(former, hand);
  await gone;
  const quietFrom = load.lastAnsweredAt();
  const next = byHand(hand);
  const ms = await unlessEnded(next, answers(hand.port, '/pub/health', quietFrom));
  const { refused } = await load.end();
  await killed(next);
  return { ms, refused };
}
