// Follow-ups of a decision about an item: what to wake, what to count, what to log.

import { ALERTS_ACTOR } from '../core/actors.ts';
import type { Core } from '../core/core.ts';
import { tellDead } from '../core/dead-letter-log.ts';
import type { HandlingDeps } from '../handling/item-ledger.ts';
import type { EngineOptions } from './engine-options.ts';

type After = HandlingDeps['after'];

export function afterHandling({
  core,
  observer,
  ...woken
}: Pick<After, 'storing' | 'due' | 'overlong' | 'failed'> & {
  readonly core: Core;
  readonly observer: EngineOptions['observer'];
}): After {
  return {
    ...woken,
    counts: (counts) => {
      for (const { counter, labels } of counts) observer.counted?.(counter, labels);
    },
    droppedReaction: (endpoint) => observer.reactionDropped?.(endpoint),
    refusedPress: (endpoint) => {
      observer.pressRefused?.(endpoint);
      core.log.warn({ endpoint }, 'a button was pressed that is not one of that conversation: refused');
    },
    handled: (row, outcome, death) => {
      if (outcome === 'dead' && death !== undefined) {
        const { code, handler } = death;
        tellDead(core, 'inbox', { id: row.id, endpoint: row.endpoint, code, handler });
      }
      observer.handled?.(row, outcome);
    },
    deadSend: ({ id, endpoint, code, actor }) =>
      tellDead(core, 'outbox', { id, endpoint, code: code ?? '', isOfAlert: actor === ALERTS_ACTOR }),
  };
}
