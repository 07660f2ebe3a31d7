// State machine of the spare worker, a preloaded process that shortens the next start. Pure. The supervisor's own decisions do not depend on it.
//
//  state   | entered on                        | left on
//  none    | start; spare given or ended       | wanted and pause over → loading
//  loading | process started                   | ready → ready; ended → none with a pause; not wanted, outdated or given → none
//  ready   | spare reports that it is loaded   | as loading
//
//   SPARE-1  After a spare ends by itself, the next one waits for a pause. The pause doubles up to five minutes.
//   SPARE-2  A spare is ended if it is not wanted any more, or if its program or log file has changed.
//   SPARE-3  A start takes the spare if the spare is current and not stopped; otherwise the spare is ended. An exited spare is not given out.
//   SPARE-4  A spare is wanted once a worker has been up for a second. The spare stays until no further worker is to start.
import { EXIT } from '../../shared/process/exit-codes.ts';
import type { State } from './machine.ts';

export type SpareState =
  | { readonly kind: 'none'; readonly notBefore: number; readonly failures: number }
  | { readonly kind: 'loading' | 'ready'; readonly failures: number };

/** State of the spare at the moment when a start asks for it. */
export interface SpareFacts {
  /** The process has exited, but its `ended` event is still to come. */
  readonly hasEnded: boolean;
  /** Stopped by SIGSTOP or a debugger. */
  readonly isStopped: boolean;
  /** The program's files have changed since the spare loaded them. */
  readonly isOutdated: boolean;
}

export type SpareEvent =
  /** Sent each second. `state` is the supervisor's state; `isOn` says whether the configuration wants a spare. */
  | { readonly kind: 'look'; readonly isOn: boolean; readonly state: State }
  | ({ readonly kind: 'asked' } & SpareFacts)
  | { readonly kind: 'worker_ended'; readonly code: number | null }
  | { readonly kind: 'ready' | 'ended' | 'log_moved' };

/** `give` hands the spare to the start that asked for it. */
export type SpareEffect = 'start' | 'end' | 'give';

export interface SpareStep {
  readonly spare: SpareState;
  readonly effect: SpareEffect | undefined;
}

export const NO_SPARE: SpareState = { kind: 'none', notBefore: 0, failures: 0 };

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
/** A worker that ends sooner than this would end before a spare has loaded. */
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
      return event.code === EXIT.restartRequired ? gone(spare, 'end') : same(spare); // exit code 75: the program has changed
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

/** No further worker is to start. */
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
