// The spare worker, as a machine of its own: pure. Whether there is one changes nothing for the machine of the supervisor but how soon a start is up.
//
//  state   | entered on                             | left on
//  none    | start; it was given, or has ended      | wanted, and its pause is over → loading
//  loading | started                                | ready → ready; ended → none, with a pause; not wanted, not of use any more, given → none
//  ready   | it waits                               | the same
//
//   R1  A spare that ends by itself is followed by another only after a pause, which doubles up to five minutes.
//   R2  One that is not wanted any more, or is not of use any more (its program has changed, or the log file that it would write to), is ended.
//   R3  A start is given one that is of use and is not stopped, which would be waited for; another is ended then. One that has ended, although its
//       group has not, is left to its end.
//   R4  It is wanted once a worker has settled, and stays for as long as that one, or a next one, is to come back.
import { EXIT } from '../../shared/process/exit-codes.ts';
import type { State } from './machine.ts';

export type SpareState =
  | { readonly kind: 'none'; readonly notBefore: number; readonly failures: number }
  | { readonly kind: 'loading' | 'ready'; readonly failures: number };

/** What a start that asks for it finds. */
export interface SpareFacts {
  /** `ended` is still to come. */
  readonly hasEnded: boolean;
  /** By SIGSTOP or a debugger. */
  readonly isStopped: boolean;
  /** Of another program than is there now. */
  readonly isOutdated: boolean;
}

export type SpareEvent =
  /** `state` of the supervisor, `isOn` of the setting: looked at each second. */
  | { readonly kind: 'look'; readonly isOn: boolean; readonly state: State }
  | ({ readonly kind: 'asked' } & SpareFacts)
  | { readonly kind: 'worker_ended'; readonly code: number | null }
  | { readonly kind: 'ready' | 'ended' | 'log_moved' };

/** `give`: to the start that asks. */
export type SpareEffect = 'start' | 'end' | 'give';

export interface SpareStep {
  readonly spare: SpareState;
  readonly effect: SpareEffect | undefined;
}

export const NO_SPARE: SpareState = { kind: 'none', notBefore: 0, failures: 0 };

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
/** A worker that ends sooner than this would find no spare anyway. */
const SETTLED_MS = 1_000;

export function stepSpare(spare: SpareState, event: SpareEvent, now: number): SpareStep {
  const { failures } = spare;
  switch (event.kind) {
    case 'look':
      return look(spare, event, now);
    case 'asked':
      if (event.hasEnded) return same(spare);
      return gone(spare, event.isStopped || event.isOutdated ? 'end' : 'give');
    case 'worker_ended':
      return event.code === EXIT.restartRequired ? gone(spare, 'end') : same(spare); // its program has changed
    case 'log_moved':
      return gone(spare, 'end');
    case 'ready':
      return spare.kind === 'loading' ? { spare: { kind: 'ready', failures: 0 }, effect: undefined } : same(spare);
    case 'ended':
      return spare.kind === 'none' ? same(spare) : { spare: paused(failures + 1, now), effect: undefined };
  }
}

function look(spare: SpareState, { isOn, state }: Extract<SpareEvent, { kind: 'look' }>, now: number): SpareStep {
  if (!isOn || isOver(state)) return gone(spare, 'end');
  if (spare.kind === 'none' && now >= spare.notBefore && isSettled(state, now))
    return { spare: { kind: 'loading', failures: spare.failures }, effect: 'start' };
  return same(spare);
}

const isSettled = (state: State, now: number): boolean => state.kind === 'running' && now - state.upAt >= SETTLED_MS;

/** No worker is to come back. */
const isOver = (state: State): boolean =>
  state.kind === 'stopped' ||
  state.kind === 'failed' ||
  (state.kind === 'draining' && state.purpose.kind !== 'worker' && state.purpose.kind !== 'restart');

const paused = (failures: number, now: number): SpareState => ({
  kind: 'none',
  notBefore: now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)),
  failures,
});

const gone = (spare: SpareState, effect: SpareEffect): SpareStep =>
  spare.kind === 'none' ? same(spare) : { spare: NO_SPARE, effect };

const same = (spare: SpareState): SpareStep => ({ spare, effect: undefined });
