// The spare worker, as a machine of its own: pure. Whether there is one changes nothing for the machine of the supervisor but how soon a start is up.
//
//  state   | entered on                   | left on
//  none    | start; it was taken or ended | wanted, and its pause is over → loading
//  loading | started                      | ready → ready; ended → none, with a pause; not wanted, stale, taken → none
//  ready   | it waits                     | the same
//
//   R1  A spare that ends by itself is followed by another only after a pause, which doubles up to five minutes.
//   R2  One that is not wanted any more, or stands for another state of the program, is ended.
export type SpareState =
  | { readonly kind: 'none'; readonly notBefore: number; readonly failures: number }
  | { readonly kind: 'loading' | 'ready'; readonly failures: number };

export type SpareEvent =
  /** `start`: there should be one; `keep`: one that is there may stay; `none`. */
  | { readonly kind: 'look'; readonly want: 'start' | 'keep' | 'none' }
  | { readonly kind: 'ready' | 'ended' | 'taken' | 'stale' };

export interface SpareStep {
  readonly spare: SpareState;
  readonly effect: 'start' | 'end' | undefined;
}

export const NO_SPARE: SpareState = { kind: 'none', notBefore: 0, failures: 0 };

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;

export function stepSpare(spare: SpareState, event: SpareEvent, now: number): SpareStep {
  const { failures } = spare;
  switch (event.kind) {
    case 'look':
      return look(spare, event.want, now);
    case 'ready':
      return spare.kind === 'loading' ? { spare: { kind: 'ready', failures: 0 }, effect: undefined } : same(spare);
    case 'ended':
      return spare.kind === 'none' ? same(spare) : { spare: paused(failures + 1, now), effect: undefined };
    case 'taken':
      return { spare: NO_SPARE, effect: undefined };
    case 'stale':
      return spare.kind === 'none' ? same(spare) : { spare: NO_SPARE, effect: 'end' };
  }
}

function look(spare: SpareState, want: 'start' | 'keep' | 'none', now: number): SpareStep {
  if (want === 'none') return spare.kind === 'none' ? same(spare) : { spare: NO_SPARE, effect: 'end' };
  if (want === 'start' && spare.kind === 'none' && now >= spare.notBefore)
    return { spare: { kind: 'loading', failures: spare.failures }, effect: 'start' };
  return same(spare);
}

const paused = (failures: number, now: number): SpareState => ({
  kind: 'none',
  notBefore: now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)),
  failures,
});

const same = (spare: SpareState): SpareStep => ({ spare, effect: undefined });
