// Ctrl-C on a terminal: the first press stops gracefully, a second one at once.
//
// The terminal sends SIGINT to the whole process group. npm and other runners pass it on some milliseconds later, so one press arrives as two
// signals. Signals within half a second are therefore one press.
import { type Clock, systemClock } from '../time/clock.ts';

const SAME_PRESS_MS = 500;

/** `pressed`: signals of the first press may still arrive. */
export type Presses = 'none' | 'pressed' | 'released';
/** `released`: half a second has passed since the first signal. */
export type PressEvent = 'interrupt' | 'released';
export type PressMeaning = 'first' | 'same' | 'again' | 'none';

/** The decision, without a clock. */
export function nextPress(presses: Presses, event: PressEvent): { readonly presses: Presses; meaning: PressMeaning } {
  if (event === 'released') return { presses: presses === 'pressed' ? 'released' : presses, meaning: 'none' };
  switch (presses) {
    case 'none':
      return { presses: 'pressed', meaning: 'first' };
    case 'pressed':
      return { presses, meaning: 'same' };
    case 'released':
      return { presses, meaning: 'again' };
  }
}

export interface InterruptOptions {
  readonly first: () => void;
  readonly again: () => void;
  readonly clock?: Clock;
}

/** Listens to SIGINT for the rest of the process. */
export function listenToInterrupts({ first, again, clock = systemClock }: InterruptOptions): void {
  let presses: Presses = 'none';
  const take = (event: PressEvent): PressMeaning => {
    const { meaning, ...next } = nextPress(presses, event);
    presses = next.presses;
    return meaning;
  };
  process.on('SIGINT', () => {
    const meaning = take('interrupt');
    if (meaning === 'again') return again();
    if (meaning !== 'first') return;
    // The loop may have stood still: signals that came meanwhile are delivered after its timers and before its immediates.
    clock.after(SAME_PRESS_MS, () => setImmediate(() => void take('released')).unref());
    first();
  });
}
