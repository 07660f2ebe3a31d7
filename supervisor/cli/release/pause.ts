// The pause of ingress over a release, beside one that an operator has made.
//
//   RELEASE-PAUSE-1  What an operator has paused, before `begin` or since, stays paused, with its mode and its reason. An operator opens it. `begin` refuses
//                    one with an end: what is handled in the middle of a release is lost by its rollback.
//   RELEASE-PAUSE-2  A rollback brings data that their restore has paused. The operator's pause is in the record before the switch, and is made again
//                    behind it, also by a rollback that goes on after a kill.
//   RELEASE-PAUSE-3  The svc of before may not be able to read the data of the new one. So the pause is in the record before that svc rolls back.
import { type OperatorPause, type ReleaseRecord, writeRelease } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { shown } from '../output/printable.ts';
import { askSvc, callSvc, failedCall, type SvcAnswer, type SvcCaller } from './svc-call.ts';

/** Begins the reason of a pause that a release has made. */
const PAUSE_REASON = 'svc release';
/** How long `begin` waits until nothing runs. */
export const QUIET = '60s';
export const STAYS_PAUSED =
  'ingress stays paused: svc release begin goes on, svc ingress resume opens it without a release';

/** Pauses, and waits until nothing runs. Returns the pause of an operator that was there: it stays as it was set. Throws `refused`. */
export async function pauseForRelease(caller: SvcCaller): Promise<OperatorPause | undefined> {
  const { json } = await askSvc(caller, ['ingress', 'status']);
  const operators = pauseIn(json);
  if (operators !== undefined && operators.until !== null)
    throw new SvcError(
      'refused',
      `ingress is paused until ${operators.until}, and would open in the middle of the release`,
      {
        hint: 'pause it without an end (svc ingress pause), or open it (svc ingress resume); then begin again',
      },
    );
  const how = operators === undefined ? ['--reason', `${PAUSE_REASON} is under way`] : flagsOf(operators);
  const args = ['ingress', 'pause', ...how, '--wait', QUIET];
  const answer = await askSvc(caller, args);
  if (answer.code === 0) return operators;
  if (answer.json?.['quiet'] !== false) throw failedCall(args, answer);
  throw new SvcError('refused', `something still runs after ${QUIET}: ${answer.notes.at(-1) ?? 'svc ingress status'}`, {
    hint: `svc ingress status names it. ${STAYS_PAUSED}`,
  });
}

/** The pause that an operator has made and not ended; undefined where ingress is open, or paused by a release or a restore. */
export async function operatorsPause(
  caller: SvcCaller,
  { operatorPause: noted }: Pick<ReleaseRecord, 'operatorPause'>,
): Promise<OperatorPause | undefined> {
  const { json } = await askSvc(caller, ['ingress', 'status']);
  const isTold = json?.['state'] === 'open' || (json?.['state'] === 'paused' && json['by'] !== 'restore');
  const pause = isTold ? pauseIn(json) : noted; // RELEASE-PAUSE-2
  return pause === undefined || isOver(pause) ? undefined : pause;
}

export function withPause(
  { operatorPause: _, ...record }: ReleaseRecord,
  kept: OperatorPause | undefined,
): ReleaseRecord {
  return { ...record, ...(kept === undefined ? {} : { operatorPause: kept }) };
}

/** RELEASE-PAUSE-3. */
export async function notePause(caller: SvcCaller, record: ReleaseRecord): Promise<void> {
  writeRelease(caller.project, withPause(record, await operatorsPause(caller, record)));
}

const isOver = ({ until }: OperatorPause): boolean => until !== null && Date.parse(until) <= Date.now();

function pauseIn(ingress: SvcAnswer['json']): OperatorPause | undefined {
  if (ingress?.['state'] !== 'paused' || ingress['by'] === 'restore') return undefined;
  const text = (name: string): string | null => (typeof ingress[name] === 'string' ? ingress[name] : null);
  const reason = text('reason');
  if (reason?.startsWith(PAUSE_REASON) === true) return undefined;
  return { mode: ingress['mode'] === 'reject' ? 'reject' : 'park', reason, until: text('until') };
}

const flagsOf = ({ mode, reason, until }: OperatorPause): readonly string[] => [
  '--mode',
  mode,
  ...(reason === null ? [] : ['--reason', reason]),
  ...(until === null ? [] : ['--until', until]),
];

export const pauseText = ({ mode, reason, until }: OperatorPause): string =>
  [mode, ...(reason === null ? [] : [shown(reason)]), ...(until === null ? [] : [`until ${until}`])].join(', ');

interface Saying {
  readonly caller: SvcCaller;
  readonly say: (line: string) => void;
}

/** Opens ingress. `kept`: the pause of an operator, who opens it (RELEASE-PAUSE-1). The svc of the project is asked: the files of this command may have been moved. */
export async function reopen({ caller, say }: Saying, kept: OperatorPause | undefined): Promise<void> {
  if (kept !== undefined) return sayKept(say, kept);
  await callSvc(caller, ['ingress', 'resume'], { tree: caller.project });
  say('ingress is open: what came meanwhile is handled');
}

/** As `reopen`, for data that a restore has paused. */
export async function reopenRestored({ caller, say }: Saying, kept: OperatorPause | undefined): Promise<void> {
  if (kept !== undefined) await pauseAgain(caller, kept);
  await reopen({ caller, say }, kept);
}

/** Of a host that runs, or of the data of one that is stopped. */
export const pauseAgain = (caller: SvcCaller, pause: OperatorPause): Promise<SvcAnswer> =>
  callSvc(caller, ['ingress', 'pause', ...flagsOf(pause)], { tree: caller.project });

const sayKept = (say: Saying['say'], pause: OperatorPause): void =>
  say(`ingress stays paused, as an operator has set it (${pauseText(pause)}): svc ingress resume opens it`);

/** Opens ingress once more, where a kill came between the record and the resume. */
export async function openAgain(of: Saying, record: Pick<ReleaseRecord, 'operatorPause'>): Promise<void> {
  const { json } = await askSvc(of.caller, ['ingress', 'status']);
  if (json?.['state'] !== 'paused' || (await operatorsPause(of.caller, record)) !== undefined) return;
  await reopen(of, undefined);
}
