// Work that a stop of the engine interrupted, for the report on what the next start continues.
import type { Cut } from '../../shared/api/control.ts';

export type AtWork = 'handlers' | 'sends';

const NEXT = {
  handlers: 'they run again at the next start',
  sends: 'the next start sends them again, or holds them (outbox.onUnknown)', // whether the platform took them is unknown
} as const;

/** Empty if everything ended. */
export const cutOf = (name: AtWork, count: number): readonly Cut[] =>
  count === 0 ? [] : [{ name, count, reason: `${count} did not end: ${NEXT[name]}` }];
