// How long the calls that show a message are under way. As quick as a fake server is no two would ever be beside each other, nor would a kill
// find one: the outbox could begin as many as it likes, or take each for sent before it is, and nothing would show.

import type { Way } from '../../../support/fake-platforms/paced.ts';
import type { Random } from '../../crash/kit/random.ts';

/** Shares of the calls. */
const LATE = 0.15;
const LONG = 0.25;
const SLOW = 0.03;
const LEAST_MS = 20;
/** As a platform has most of the time. */
const MOST_MS = 300;
/** As a platform has at bad times; the sender's patience is longer. */
const SLOW_MS = 2_500;

export const paceOf = (random: Random) => (): Way | undefined => {
  const share = random.next();
  const ms = random.between(LEAST_MS, MOST_MS);
  if (share < LATE) return { thereMs: ms, backMs: 0 };
  if (share < LATE + LONG) return { thereMs: 0, backMs: ms };
  return share < LATE + LONG + SLOW ? { thereMs: 0, backMs: SLOW_MS } : undefined;
};
