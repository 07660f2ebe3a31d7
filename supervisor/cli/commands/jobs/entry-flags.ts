// The flags of `svc jobs add` and `edit`: one a key of the entry.

import { nearest } from '../../../../shared/config/nearest.ts';
import type { Entry } from '../../../../shared/jobs/change-jobs.ts';
import { JOB_KEYS } from '../../../../shared/jobs/job-rules.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { CommandOption } from '../../command.ts';
import { textOption } from '../../options.ts';

type Options = Readonly<Record<string, unknown>>;

export const ENTRY_FLAGS: readonly CommandOption[] = [
  { flags: '--cron <fields>', description: 'Minute, hour, day of the month, month, day of the week: "0 9 * * 1-5"' },
  { flags: '--at <time>', description: 'Once: 2027-02-01T09:00 in the time zone, or with Z or an offset' },
  { flags: '--every <duration>', description: 'Again and again in real time: 15m' },
  { flags: '--from <time>', description: 'From when --every counts: 2026-12-01T00:00Z' },
  { flags: '--timezone <name>', description: 'IANA name; default: schedule.timezone' },
  { flags: '--say <text>', description: 'Says a text in the conversation of --to' },
  { flags: '--command <line>', description: 'Runs a command there, with the rights of an operator' },
  { flags: '--item <title>', description: 'Opens an item on the board of --board' },
  { flags: '--board <board>', description: 'Id of the board, with --item' },
  { flags: '--assign <member>', description: 'Who gets the item' },
  { flags: '--due <duration>', description: 'Deadline of the item, counted from the due time: 3d' },
  { flags: '--to <place>', description: 'Account and conversation: irc~libera:#web' },
  { flags: '--thread <id>', description: 'The thread in that conversation' },
  { flags: '--missed <policy>', description: 'skip, run_once or run_all' },
  { flags: '--within <duration>', description: 'How late a missed due time may run: 1h' },
  { flags: '--overlap <policy>', description: 'skip, queue or allow, while a run is open' },
  { flags: '--jitter <duration>', description: 'Spreads due times: 30s' },
  { flags: '--title <text>', description: 'For lists' },
  { flags: '--force', description: 'Takes a job whose account, command or board is not there' },
];

export const UNSET_FLAG: CommandOption = { flags: '--unset <keys>', description: 'Takes keys out: jitter,title' };

const PLAIN = ['cron', 'at', 'every', 'from', 'timezone', 'missed', 'within', 'overlap', 'jitter', 'title'] as const;
const TIMINGS = ['cron', 'at', 'every'] as const;

/** The entry with the flags over `former`. A new timing replaces the old one. Throws `usage`. */
export function entryWith(options: Options, former: Entry | undefined): Entry {
  const entry: Record<string, unknown> = { ...former };
  for (const key of unsetKeys(options)) delete entry[key];
  const given = TIMINGS.filter((key) => textOption(options, key) !== undefined);
  if (given.length > 1) throw new SvcError('usage', `--${given.join(' and --')}: a job has one of them`);
  if (given.length === 1) for (const key of TIMINGS) delete entry[key];
  if (given[0] !== undefined && given[0] !== 'every') delete entry['from'];
  if (given[0] === 'every') delete entry['timezone'];
  for (const key of PLAIN) {
    const value = textOption(options, key);
    if (value !== undefined) entry[key] = value;
  }
  const action = actionOf(options, entry['do'] as Entry | undefined);
  if (action !== undefined) entry['do'] = action;
  return entry;
}

function unsetKeys(options: Options): readonly string[] {
  const keys = (textOption(options, 'unset') ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  for (const key of keys) {
    if (key === 'id' || key === 'do') throw new SvcError('usage', `--unset: a job needs its key ${key}`);
    if ((JOB_KEYS as readonly string[]).includes(key) || key.startsWith('x-')) continue;
    const near = nearest(key, JOB_KEYS);
    throw new SvcError(
      'usage',
      `--unset: a job has no key ${key}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  return keys;
}

const ACTIONS = ['say', 'command', 'item'] as const;
const OF_ITEM = ['board', 'assign', 'due'] as const;

function actionOf(options: Options, former: Entry | undefined): Entry | undefined {
  const given = ACTIONS.filter((key) => textOption(options, key) !== undefined);
  if (given.length > 1) throw new SvcError('usage', `--${given.join(' and --')}: a job does one of them`);
  const [kind = Object.keys(former ?? {})[0]] = given;
  const isOfItem = OF_ITEM.some((key) => textOption(options, key) !== undefined);
  const place = placeOption(options);
  if (given.length === 0 && place === undefined && !isOfItem) return undefined;
  const before = Object.values(former ?? {})[0] as Entry | undefined;
  if (kind === 'item') return itemOption(options, place, former?.['item'] as Entry | undefined);
  if (isOfItem) throw new SvcError('usage', '--board, --assign and --due belong to --item');
  const where = place ?? before?.['to'] ?? before?.['in'];
  if (where === undefined)
    throw new SvcError('usage', '--to is missing: account and conversation, such as --to irc~libera:#web');
  if (kind === 'command') return { command: { in: where, line: textOption(options, 'command') ?? before?.['line'] } };
  return { say: { to: where, text: textOption(options, 'say') ?? before?.['text'] } };
}

function itemOption(options: Options, place: Entry | undefined, before: Entry | undefined): Entry {
  if (place !== undefined) throw new SvcError('usage', '--to belongs to --say and --command: an item has a --board');
  const item: Record<string, unknown> = { ...before, title: textOption(options, 'item') ?? before?.['title'] };
  for (const key of OF_ITEM) item[key] = textOption(options, key) ?? before?.[key];
  if (item['board'] === undefined) throw new SvcError('usage', '--board is missing: the id of a board, such as web');
  return { item: Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) };
}

/** `irc~libera:#web`, or with the full id of the account `root/irc:irc~libera:#web`. */
function placeOption(options: Options): Entry | undefined {
  const text = textOption(options, 'to');
  if (text === undefined) return undefined;
  const [, endpoint = '', conversation = ''] = /^((?:root\/[^:]*:)?[^:]+):([\s\S]+)$/.exec(text) ?? [];
  if (endpoint === '') throw new SvcError('usage', '--to takes account and conversation, such as irc~libera:#web');
  const thread = textOption(options, 'thread');
  return { endpoint, conversation, ...(thread === undefined ? {} : { thread }) };
}
