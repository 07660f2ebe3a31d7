// What a release does next: pure. A command names a step; the machine says whether the step may run, has run, or why not.
import type { ReleaseRecord, ReleaseState } from './release-record.ts';

export type ReleaseCommand = 'check' | 'start' | 'accept' | 'observe' | 'finish' | 'rollback';

export type Next =
  /** Run the step; once it is done the release has this state. */
  | { readonly kind: 'run'; readonly to: ReleaseState }
  /** The step was done before. Nothing is to be done, and the command ends well. */
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: string; readonly hint: string };

const STEPS = {
  check: { from: 'begun', to: 'checked' },
  start: { from: 'checked', to: 'started' },
  accept: { from: 'started', to: 'accepted' },
  observe: { from: 'accepted', to: 'observing' },
  finish: { from: 'observing', to: 'finished' },
} as const satisfies Record<
  Exclude<ReleaseCommand, 'rollback'>,
  { readonly from: ReleaseState; readonly to: ReleaseState }
>;

const ORDER = ['begun', 'checked', 'started', 'accepted', 'observing', 'finished'] as const;

/** The command that goes on from a state. */
export const commandAfter = (state: ReleaseState): Exclude<ReleaseCommand, 'rollback'> | undefined =>
  (Object.keys(STEPS) as (keyof typeof STEPS)[]).find((command) => STEPS[command].from === state);

/**
 * Whether `command` may run on the release now.
 * - A step that was done is done again without harm.
 * - Nothing follows after an end.
 * - `finish` waits for the end of the window and for a good verdict. `isForced` takes an unclear one; a bad one is never taken.
 */
export function next(
  record: Pick<ReleaseRecord, 'name' | 'state' | 'windowUntil' | 'verdict'>,
  command: ReleaseCommand,
  { now, isForced = false }: { readonly now: number; readonly isForced?: boolean },
): Next {
  const { name, state } = record;
  if (state === 'rolled_back')
    return command === 'rollback'
      ? { kind: 'done' }
      : refused(`${name} was rolled back`, 'svc release begin starts another one');
  if (command === 'rollback')
    return state === 'finished'
      ? refused(
          `${name} is finished: what ran before it is no longer kept`,
          'svc checkpoint restore goes back to a restore point',
        )
      : { kind: 'run', to: 'rolled_back' };
  const { from, to } = STEPS[command];
  if (ORDER.indexOf(state) >= ORDER.indexOf(to)) return { kind: 'done' };
  if (state !== from)
    return refused(
      `${name} is ${state}: ${command} comes after ${from}`,
      `svc release ${commandAfter(state) ?? 'status'}`,
    );
  return command === 'finish' ? finish(record, { now, isForced, to }) : { kind: 'run', to };
}

function finish(
  { name, windowUntil, verdict }: Pick<ReleaseRecord, 'name' | 'windowUntil' | 'verdict'>,
  { now, isForced, to }: { readonly now: number; readonly isForced: boolean; readonly to: ReleaseState },
): Next {
  if (windowUntil !== null && Date.parse(windowUntil) > now)
    return refused(`the window of ${name} runs until ${windowUntil}`, 'Wait for its end, or: svc release rollback');
  if (verdict?.verdict === 'bad') return refused(`${name} does not do well: ${verdict.signal}`, 'svc release rollback');
  if (verdict?.verdict !== 'good' && !isForced)
    return refused(
      `whether ${name} does well is unclear: ${verdict?.signal ?? 'nothing was judged yet'}`,
      'Look at it, then: svc release finish --unclear, or svc release rollback',
    );
  return { kind: 'run', to };
}

const refused = (reason: string, hint: string): Next => ({ kind: 'refused', reason, hint });

/** The record after a step. */
export const after = (
  record: ReleaseRecord,
  state: ReleaseState,
  { at, actor }: { readonly at: string; readonly actor: string },
): ReleaseRecord => ({ ...record, state, steps: [...record.steps, { state, at, actor }] });
