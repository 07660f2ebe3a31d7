// Sends the outbox to the platforms, in order within a conversation, under the rate limit of each endpoint.
//
//   SENDER-1  An attempt is committed before the call, its result after it. A lost result is therefore recognised after a crash. If the platform
//             drops repeats, the attempt needs no commit of its own: it joins the one that stores the send or ends the send before it.
//   SENDER-2  The idempotency key is the same on each attempt. If the platform drops repeats, nothing is shown twice. Otherwise the calls of an
//             account run one after the other, and each result is stored before the next call. A crash then repeats at most one call.
//             A call without an answer after PATIENCE_MS lets the next conversation go on; a crash may then repeat one of its calls as well.
//   SENDER-3  Every send ends as sent, dead or unknown, each with an event.
//   SENDER-4  A send whose endpoint is offline or was told to pause waits without using up attempts.
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

/** Concurrent calls of one endpoint whose platform drops repeats. */
const MOST_CALLS = 16;
/**
 * On other platforms, how long a call holds back the next one of its account. Longer than a working platform needs, so a crash rarely meets two
 * calls. Short enough that one hanging conversation does not silence the account.
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
  const claimAhead = new ClaimAhead(options.recent, quarantine);
  const runner = new LaneRunner<SendHead>({
    name: 'outbox',
    core,
    limits: () => quarantine.limits(limits()),
    held: ({ endpoint }) => options.surface(endpoint).kind === 'waiting' || pace.quiet.has(endpoint),
    run: (item, next) =>
      quarantine.watch(item.id, () => {
        const isClaimed = claimAhead.take(item.id);
        return new SendAttempt(options, pace, {
          item,
          isClaimed,
          setAside: () => quarantine.setAside(item.id),
          next: () => claimAhead.of(next()),
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
