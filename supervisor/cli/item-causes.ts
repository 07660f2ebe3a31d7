// Dead letters by cause for `svc inbox` and `svc outbox`: the list, and replays and drops of all that match, a page at a time.
//
//   ITEM-CAUSES-1  A page is one unit. A command that is stopped or killed is run again, and goes on with the rest.
//   ITEM-CAUSES-2  Only items that were dead when the command began are changed.
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode } from '../../shared/process/exit-codes.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import type { CommandContext, CommandOption } from './command.ts';
import {
  askItems,
  type BulkResult,
  type LostState,
  type ManyChange,
  type Selection,
  type StoreName,
} from './connect/item-source.ts';
import { momentOf } from './duration.ts';
import { textOption, wordOption } from './options.ts';
import { shown } from './output/printable.ts';

const FULL_WAIT_MS = 1_000;
const FILTERS = ['endpoint', 'handler', 'code', 'since'] as const;

type Options = Readonly<Record<string, unknown>>;

/** Options of a change that select many items instead of one id. */
export const selectionOptions = (noun: StoreName): readonly CommandOption[] => [
  { flags: '--all', description: 'All dead items instead of one id' },
  { flags: '--endpoint <id>', description: 'All dead items of this endpoint' },
  ...(noun === 'inbox'
    ? [{ flags: '--handler <id>', description: 'All that this handler failed at, or any handler of this plugin' }]
    : [{ flags: '--state <state>', description: 'dead, or unknown for sends of unknown outcome', default: 'dead' }]),
  { flags: '--code <code>', description: `All that died of this: svc ${noun} list --causes` },
  { flags: '--since <when>', description: 'All that died since a time (2026-01-31T12:00:00Z) or an age (15m, 2h)' },
];

/** True if the options select many items. Throws `usage` if an id is given as well, or neither. */
export function selectsMany(noun: StoreName, id: unknown, options: Options): boolean {
  const isMany = options['all'] === true || FILTERS.some((name) => textOption(options, name) !== undefined);
  if (isMany && id !== undefined)
    throw new SvcError('usage', 'an id and a selection exclude each other', { hint: `svc ${noun} list --causes` });
  if (!isMany && id === undefined)
    throw new SvcError('usage', '<id> is missing', {
      hint: `give an id, or --all, --endpoint${noun === 'inbox' ? ', --handler' : ''}, --code or --since: svc ${noun} list --causes`,
    });
  return isMany;
}

export async function listCauses(context: CommandContext, noun: StoreName, options: Options): Promise<ExitCode> {
  const { print, json } = context;
  const { groups, looked, asOf } = await askItems(context, noun, (items) => items.groups(stateOf(options)));
  if (json) print.json({ groups, looked, asOf });
  else if (groups.length === 0) print.text(`no dead items in the ${noun}`);
  else {
    const handler = noun === 'inbox' ? (['handler'] as const) : [];
    const fields = ['count', 'code', ...handler, 'endpoint', 'oldest', 'newest', 'item'] as const;
    print.table(
      ['count', 'code', ...handler, 'endpoint', 'oldest', 'newest', 'newest item'],
      groups.map((group) => fields.map((name) => shown(group[name] ?? '-'))),
    );
    print.note(`svc ${noun} show <item> has its error; svc ${noun} replay|drop --code <code> changes all of a cause`);
  }
  return EXIT.ok;
}

const DONE = { replay: 'replayed', drop: 'dropped' } as const;

/** Changes all that the options select, with its progress on stderr. Exit 1 if it was stopped before the end. */
export async function changeMany(
  context: CommandContext,
  noun: StoreName,
  { change, options }: { readonly change: ManyChange; readonly options: Options },
): Promise<ExitCode> {
  const { print, json, signal } = context;
  const state = stateOf(options);
  const since = textOption(options, 'since');
  const from = since === undefined ? undefined : new Date(momentOf('--since', since)).toISOString();
  const { asOf } = await askItems(context, noun, (items) => items.groups(state));
  const selection: Omit<Selection, 'after'> = {
    state,
    endpoint: textOption(options, 'endpoint'),
    handler: textOption(options, 'handler'),
    code: textOption(options, 'code'),
    since: from,
    upTo: asOf,
  };
  let done = 0;
  let page: BulkResult = { done: 0, left: 0, skipped: 0 };
  do {
    const { next: after } = page;
    page = await onePage(context, noun, { change, selection: { ...selection, after } });
    done += page.done;
    if (page.left > 0) print.note(`${counted(done)} of ${counted(done + page.left)} ${DONE[change.action]}`);
  } while (page.next !== undefined && !signal.aborted);
  const { left, skipped } = page;
  if (json) print.json({ done, left, skipped });
  else
    print.text(
      `${DONE[change.action]}: ${counted(done)}${left > 0 ? `; ${counted(left)} are left: run it again` : ''}`,
    );
  if (skipped > 0)
    print.note(
      `${counted(skipped)} were left as they are: held by an operator (--code held), without their text, or a step of theirs may have been done (--answer again or done)`,
    );
  return left > 0 ? EXIT.failed : EXIT.ok;
}

/** Waits while the inbox has no room for replayed items. */
async function onePage(
  context: CommandContext,
  noun: StoreName,
  { change, selection }: { readonly change: ManyChange; readonly selection: Selection },
): Promise<BulkResult> {
  for (let isSaid = false; ; isSaid = true) {
    try {
      return await askItems(context, noun, (items) => items.changeMany(selection, change));
    } catch (error) {
      if (coerceError(error).code !== 'inbox_full' || context.signal.aborted) throw error;
      if (!isSaid) context.print.note('the inbox has no room: waits until the items in it are handled');
      await pause(FULL_WAIT_MS, undefined, { signal: context.signal }).catch(() => {}); // then it is thrown
    }
  }
}

const stateOf = (options: Options): LostState => wordOption(options, 'state', ['dead', 'unknown']) ?? 'dead';

const counted = (count: number): string => count.toLocaleString('en');
