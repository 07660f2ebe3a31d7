// What a stop of the engine has cut, for those who ask what waits for the next start.
import type { Cut } from '../../shared/api/control.ts';

export type AtWork = 'handlers' | 'sends';

const NEXT = {
  handlers: 'they run again at the next start',
  sends: 'the next start sends them again, or holds them (outbox.onUnknown)', // what the platform made of them nobody knows
} as const;

/** Empty where all ended. */
export const cutOf = (name: AtWork, count: number): readonly Cut[] =>
  count === 0 ? [] : [{ name, count, reason: `${count} did not end: ${NEXT[name]}` }];
