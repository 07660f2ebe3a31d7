// The plan of a restore for a person: what is lost, what stays done, what comes along.
import type { TakenBack } from '../../../shared/recovery/release-record.ts';
import { waitText } from '../../../shared/time/wait-text.ts';
import type { readRestorePlan } from '../start/worker-entry.ts';
import { shown } from './printable.ts';

export type Plan = Awaited<ReturnType<typeof readRestorePlan>>;

/** Lines of a label and a text, aligned. */
export function planLines(plan: Plan, now: number): readonly string[] {
  const rows = [
    [plan.name, checkpointText(plan, now)],
    ['now', nowText(plan)],
    ['LOST', lostText(plan)],
    ['NOT UNDONE', notUndoneText(plan)],
    ['COMES ALONG', alongText(plan)],
    ['NOT HELD', notHeldText(plan.notHeld)],
    ['SECRETS', secretsText(plan)],
    ['THEN', 'new event timeline; ingress paused (park) until: svc ingress resume'],
  ].filter(([, text]) => text !== '');
  const width = Math.max(...rows.map(([label = '']) => label.length));
  return rows.map(([label = '', text = '']) => `${label.padEnd(width)}  ${text}`);
}

function provenText(level: Plan['level'], age: string | undefined): string {
  if (level === 'failed') return 'its verification FAILED';
  if (level === 'damaged') return 'DAMAGED';
  return level === null || age === undefined ? 'never verified' : `${level} ${age} ago`;
}

function checkpointText({ createdAt, level, verifiedAt, made, past }: Plan, now: number): string {
  const age = (at: string): string => waitText(now - Date.parse(at));
  return listed([
    createdAt,
    `${age(createdAt)} old`,
    provenText(level, verifiedAt === null ? undefined : age(verifiedAt)),
    made?.commit == null ? '' : `commit ${made.commit.slice(0, 12)}`,
    made === null ? '' : `svc ${made.svc}`,
    `schema ${schemaText(past.schema)}`,
  ]);
}

function nowText(plan: Plan): string {
  const { now, unreadable, commit, isLockfileSame } = plan;
  const files = [
    commit === null ? '' : `commit ${commit.slice(0, 12)}`,
    configText(plan),
    isLockfileSame === false ? 'package-lock.json differs; it stays as it is' : '',
  ];
  if (unreadable !== null) return listed([`cannot be read, so nothing comes along: ${unreadable}`, ...files]);
  if (now === null) return listed(['no state lies here', ...files]);
  const [first = '', ...rest] = files;
  return listed([first, `schema ${schemaText(now.schema)}${migrationText(plan, now.schema)}`, ...rest]);
}

function migrationText({ past, isBreaking }: Plan, schema: number): string {
  const kind = [isBreaking ? 'breaking' : '', schema > past.schema ? 'newer: it is migrated again' : ''];
  return listed(kind) === '' ? '' : ` (${listed(kind)})`;
}

const KEYS_NAMED = 5;

function configText({ isConfigSame, configKeys }: Plan): string {
  if (isConfigSame !== false) return '';
  const keys = configKeys ?? [];
  const more = keys.length > KEYS_NAMED ? ` and ${keys.length - KEYS_NAMED} more` : '';
  const named = keys.length === 0 ? '' : `: ${keys.slice(0, KEYS_NAMED).map(shown).join(', ')}${more}`;
  return `svc.config.yml differs${named}; it stays as it is`;
}

/** Whether work would be lost. Events alone are none: a start and a stop make some. */
export const losesWork = ({ lost, unreadable }: Pick<Plan, 'lost' | 'unreadable'>): boolean =>
  unreadable !== null ||
  (lost !== null &&
    (lost.journal !== null || Object.entries(lost).some(([name, of]) => name !== 'events' && Number(of) > 0)));

/** The line of a rollback that took work back; undefined where it took none. */
export function takenBackText(taken: TakenBack): string | undefined {
  if (!losesWork(taken)) return undefined;
  const { lost, unreadable, replaced } = taken;
  const what = unreadable === null ? lostText({ lost }) : `all of it, since it cannot be read: ${unreadable}`;
  return `taken back with the version: ${what}; it lies in ${replaced === null ? '.svc/replaced' : `.svc/replaced/${replaced}`}`;
}

function lostText({ lost }: Pick<Plan, 'lost'>): string {
  if (lost === null) return '';
  const { events, handled, plugins, journal, jobs, tasks, sends, accounts } = lost;
  const text = listed([
    events === 0 ? '' : counted(events, 'event'),
    handled === 0 ? '' : counted(handled, 'handled message'),
    plugins === 0 ? '' : `state of ${counted(plugins, 'owner')}`,
    journal === null ? '' : `journal ${number(journal.from)}-${number(journal.to)}`,
    jobs === 0 ? '' : `${counted(jobs, 'job')} changed`,
    tasks === 0 ? '' : `${counted(tasks, 'task')} set since`,
    sends === 0 ? '' : counted(sends, 'dead or unknown send'),
    accounts === 0 ? '' : `${counted(accounts, 'account')} enabled or disabled`,
  ]);
  return text === '' ? 'nothing' : text;
}

function notUndoneText({ notUndone }: Plan): string {
  const sends = Object.entries(notUndone?.sends ?? {});
  return listed(sends.map(([endpoint, count]) => `${counted(count, 'send')} by ${endpoint.replace(/^.*:/, '')}`));
}

function alongText({ comesAlong, open }: Plan): string {
  if (comesAlong === null) {
    const { items = 0, sends = 0 } = open ?? {};
    return listed([
      'nothing',
      sends === 0 ? '' : `${counted(sends, 'open send')} of the checkpoint becomes unknown`,
      items === 0 ? '' : `${counted(items, 'open item')} of the checkpoint: --open handle or drop`,
    ]);
  }
  const { received, waitingSends, waitingTasks, ids, endedItems, endedSends, tasks } = comesAlong;
  const ends = [
    endedItems === 0 ? '' : counted(endedItems, 'item'),
    endedSends === 0 ? '' : counted(endedSends, 'send'),
    tasks === 0 ? '' : counted(tasks, 'task'),
  ];
  const text = listed([
    received === 0 ? '' : `${counted(received, 'message')} not handled yet, handled after resume`,
    waitingSends === 0 ? '' : `${counted(waitingSends, 'send')} not sent yet`,
    waitingTasks === 0 ? '' : `${counted(waitingTasks, 'task')} set since`,
    ids === 0 ? '' : counted(ids, 'delivery id'),
    ends.every((end) => end === '') ? '' : `ends of ${listed(ends)}`,
  ]);
  return text === '' ? 'nothing' : text;
}

/** What an older schema has no place for. Empty where it holds everything. */
export function notHeldText(notHeld: Plan['notHeld']): string {
  const rows = Object.entries(notHeld ?? {}).map(([what, count]) => `${shown(what)} of ${counted(count, 'row')}`);
  return rows.length === 0 ? '' : `${listed(rows)}: the schema of the checkpoint has no place for it`;
}

function secretsText({ secrets, made }: Plan): string {
  if (secrets === null) return made === null ? '' : 'nobody can tell whether they have changed';
  return secrets.length === 0 ? '' : `${secrets.join(', ')} changed since`;
}

const schemaText = (schema: number): string => String(schema).padStart(4, '0');
const number = (value: number): string => value.toLocaleString('en-US');
const counted = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? '' : 's'}`;
const listed = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ');
