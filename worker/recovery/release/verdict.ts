// Whether a released version does well: pure, from counts of its window and of an equal span before the release. Bad is told; nothing is rolled back by
// itself, because the data of the window would go.

export interface Counts {
  /** Ends of a worker that were a crash. */
  readonly crashes: number;
  /** Longest time in which the host was not ready. */
  readonly longestNotReadyMs: number;
  readonly handled: number;
  /** Items and sends that became dead letters, and sends of unknown outcome. */
  readonly deadOrUnknown: number;
  /** Ends of agent runs. */
  readonly agentRuns: number;
  readonly agentFailures: number;
}

export interface WindowFacts {
  readonly before: Counts;
  readonly since: Counts;
  /** Required accounts that were online before the release and are not now, with the time since when. */
  readonly lostAccounts: readonly { readonly name: string; readonly forMs: number }[];
  readonly oldestWaitingMs: number;
}

export interface Verdict {
  readonly verdict: 'good' | 'bad' | 'unclear';
  readonly signal: string;
}

const MOST_CRASHES = 1;
const NOT_READY_MS = 60_000;
const LOST_MS = 300_000;
const FEWEST_DEAD = 5;
const DEAD_FACTOR = 2;
const AGENT_POINTS = 10;
const OLDEST_MS = 600_000;
const FEWEST_HANDLED = 20;
const PERCENT = 100;

export function judge({ before, since, lostAccounts, oldestWaitingMs }: WindowFacts): Verdict {
  const bad = (signal: string): Verdict => ({ verdict: 'bad', signal });
  if (since.crashes > MOST_CRASHES) return bad(`${since.crashes} crashes`);
  if (since.longestNotReadyMs > NOT_READY_MS) return bad(`not ready for ${seconds(since.longestNotReadyMs)}`);
  const lost = lostAccounts.find(({ forMs }) => forMs >= LOST_MS);
  if (lost !== undefined) return bad(`${lost.name} was online before, and is not for ${seconds(lost.forMs)}`);
  if (since.deadOrUnknown >= FEWEST_DEAD && shareOf(since) > DEAD_FACTOR * shareOf(before))
    return bad(`${since.deadOrUnknown} of ${since.handled} ended dead or unknown, more than twice as many as before`);
  const points = failuresOf(since) - failuresOf(before);
  if (since.agentFailures > 0 && points > AGENT_POINTS)
    return bad(`agent runs fail by ${Math.round(points)} points more than before`);
  if (oldestWaitingMs > OLDEST_MS) return bad(`the oldest message waits for ${seconds(oldestWaitingMs)}`);
  if (since.handled < FEWEST_HANDLED)
    return { verdict: 'unclear', signal: `only ${since.handled} messages were handled` };
  return {
    verdict: 'good',
    signal: `${since.handled} messages were handled, ${since.deadOrUnknown} ended dead or unknown`,
  };
}

const shareOf = ({ deadOrUnknown, handled }: Counts): number => deadOrUnknown / Math.max(1, handled);
const failuresOf = ({ agentRuns, agentFailures }: Counts): number =>
  agentRuns === 0 ? 0 : (PERCENT * agentFailures) / agentRuns;
const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
