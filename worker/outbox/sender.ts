// Brings sends to their platforms, in order within a conversation, under the rate of the endpoint.
//
//   S1  An attempt is on disk before the call, its result after it: an attempt without a result can be told after a crash. Where the
//       platform drops repeats it joins the unit that stores the send, or the one that ends the send before it.
//   S2  The key is the same on each attempt; where the platform drops repeats nothing goes out twice.
//       Where it does not, calls of an account come one after the other, each stored before the next: a crash repeats one of them. A call without
//       an answer after PATIENCE_MS counts no longer: beside it those of other conversations go on one after the other, and a crash repeats one of
//       them as well.
//   S3  Every send ends as sent, dead or unknown, each with an event; never silently.
//   S4  A send whose endpoint is not online, or was told to be quiet, waits for it without using up attempts.
import { ClaimAhead } from '../lanes/claim-ahead.ts';
import { LaneRunner } from '../lanes/lane-runner.ts';
import { Quarantine } from '../lanes/quarantine.ts';
import { CallSlots } from './call-slots.ts';
import { HostFailureBackoff } from './host-failure-backoff.ts';
import { readOpenSends, readSendLane, readSendsInHand, type SendHead } from './outbox-store.ts';
import { QuietAccounts } from './quiet-accounts.ts';
import { SendAttempt } from './send-attempt.ts';
import { SendRate } from './send-rate.ts';
import type { Pace, SenderOptions } from './sender-options.ts';

/** Calls of one endpoint at once, where the platform drops repeats. */
const MOST_CALLS = 16;
/**
 * Elsewhere they come one after the other; one that takes longer lets the next go. Far above what a platform that works takes to answer, so that
 * a crash finds no two, and short enough that a conversation at which the platform hangs does not silence the account.
 */
const PATIENCE_MS = 10_000;

export function createSender(options: SenderOptions): LaneRunner<SendHead> {
  const { core, limits } = options;
  const { clock } = core;
  const pace: Pace = {
    rate: new SendRate(clock),
    slots: new CallSlots({ most: MOST_CALLS, clock }),
    alone: new CallSlots({ most: 1, patienceMs: PATIENCE_MS, clock }),
    quiet: new QuietAccounts(clock, () => runner.wake()),
    ours: new HostFailureBackoff(),
  };
  const quarantine = new Quarantine(core, {
    read: () => readSendsInHand(core.reader),
    what: 'sends',
    changed: () => runner.wake(),
  });
  const followers = new ClaimAhead(options.recent, quarantine);
  const runner = new LaneRunner<SendHead>({
    name: 'outbox',
    core,
    limits: () => quarantine.limits(limits()),
    held: ({ endpoint }) => options.surface(endpoint).kind === 'waiting' || pace.quiet.has(endpoint),
    run: (item, next) =>
      quarantine.watch(item.id, () => {
        const isClaimed = followers.take(item.id);
        return new SendAttempt(options, pace, {
          item,
          isClaimed,
          setAside: () => quarantine.setAside(item.id),
          next: () => followers.of(next()),
        }).run();
      }),
    async readOpen(after, limit) {
      await quarantine.load();
      return readOpenSends(core.reader, after, limit);
    },
    readLane: (lane, after, limit) => readSendLane(core.reader, { lane, after, limit }),
  });
  return runner;
}
