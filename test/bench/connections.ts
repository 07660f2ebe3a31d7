// 200 new connections a second over the restarts of a host, and what became of each, beside the same ends by hand under the same load in the
// same rounds: there the next start comes once the former process is gone, and nobody holds the address meanwhile.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type SteadyRequests, type SteadyTally, sendSteadily } from '../support/http/steady-requests.ts';
import { type ByHand, type HostProject, hostProject, killed, unlessEnded } from './load/host-project.ts';
import { HEALTHY_MS } from './load/kept-host.ts';
import { answers, median } from './load/support.ts';

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
  /** The slowest answer of a restart, by the median of the restarts. */
  readonly slowestMs: number;
  readonly limitMs: number;
  /** The same by hand, of requests that are sent again as soon as somebody answers; and how many had to be. */
  readonly byHandMs: number;
  readonly byHandRefused: number;
}

export const RESTARTS = 7;
/** Who keeps a host up may take this much longer than a start by hand. */
export const SLACK_MS = 8;
const PER_SECOND = 200;
const AROUND_MS = 700;

/**
 * What is compared is the slowest answer of each restart, from when it was sent: of those that come together once a worker listens one is the
 * last. The first answer alone would call the others late. Starts by hand differ among themselves, by a quarter and more on a shared machine:
 * so their medians are compared, with the 8 ms between them, and a single request is late when it waited longer than the slowest by hand by
 * more than the 8 ms and what the starts by hand differ.
 */
export async function connectionsOver(
  project: HostProject,
  { byHand, restart }: { readonly byHand: ByHand; readonly restart: Restart },
): Promise<Connections> {
  const hand = await hostProject();
  const byHands: SteadyTally[] = [];
  const tallies: SteadyTally[] = [];
  try {
    for (let round = 0; round < RESTARTS; round += 1) {
      byHands.push(await tallyByHand(hand, byHand, restart.byHand));
      tallies.push(await tallyOver(project, restart.kept));
    }
  } finally {
    await hand.remove();
  }
  const sum = (of: (tally: SteadyTally) => number): number => tallies.reduce((all, tally) => all + of(tally), 0);
  const slowestOf = (all: readonly SteadyTally[]): readonly number[] => all.map(({ waitsMs }) => Math.max(...waitsMs));
  const slowestByHand = slowestOf(byHands);
  const limitMs = 2 * Math.max(...slowestByHand) - Math.min(...slowestByHand) + SLACK_MS;
  const waits = tallies.flatMap(({ waitsMs }) => waitsMs);
  return {
    sent: sum(({ sent }) => sent),
    refused: sum(({ refused }) => refused),
    cut: sum(({ cut }) => cut),
    late: waits.filter((ms) => ms > limitMs).length,
    others: sum(({ others }) => others.length),
    slowestMs: median(slowestOf(tallies)),
    limitMs,
    byHandMs: median(slowestByHand),
    byHandRefused: byHands.reduce((all, { refused }) => all + refused, 0),
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

/** The same by hand. Who is refused comes again in the moment in which somebody answers, and has waited since it came first. */
async function tallyByHand(hand: HostProject, byHand: ByHand, end: Restart['byHand']): Promise<SteadyTally> {
  const former = byHand(hand);
  await unlessEnded(former, answers(hand.port, '/pub/ready', performance.now()));
  await pause(HEALTHY_MS);
  const load = loadOn(hand);
  await pause(AROUND_MS);
  const gone = once(former, 'exit');
  await end(former, hand);
  await gone;
  const next = byHand(hand);
  await unlessEnded(next, answers(hand.port, '/pub/health', performance.now()));
  load.again();
  await pause(AROUND_MS);
  const tally = await load.end();
  await killed(next);
  return tally;
}
