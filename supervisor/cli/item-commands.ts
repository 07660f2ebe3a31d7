// `svc inbox …` and `svc outbox …`: list, show, replay, hold, drop. The two stores differ only in a few words.
import { EXIT } from '../../shared/process/exit-codes.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Command, CommandContext, CommandOption } from './command.ts';
import { askItems, type Item, type ItemChange, type StoreName } from './connect/item-source.ts';
import { changeMany, listCauses, selectionOptions, selectsMany } from './item-causes.ts';
import { countOption, textArgument, textOption, wordOption } from './options.ts';
import { shown } from './output/printable.ts';

export interface ItemStoreWords {
  readonly noun: StoreName;
  readonly states: readonly string[];
  /** Field with the time from which the age is counted. */
  readonly since: string;
  /** Possible answers of a replay about a send whose outcome is unknown. */
  readonly answers: readonly ('again' | 'done')[];
  /** The question that those answers decide. */
  readonly question: string;
}

export const itemCommands = (store: ItemStoreWords): Command[] => [
  list(store),
  show(store),
  replay(store),
  hold(store),
  drop(store),
];

const list = ({ noun, states, since }: ItemStoreWords): Command => ({
  noun,
  verb: 'list',
  summary: `Lists items of the ${noun}, a page at a time`,
  options: [
    { flags: '--state <state>', description: `Only items that are ${states.join(', ')}` },
    { flags: '--endpoint <id>', description: 'Only items of this endpoint' },
    { flags: '--limit <n>', description: 'Items a page, 1 to 200', default: 50 },
    { flags: '--after <cursor>', description: 'The page after the one that named this cursor' },
    { flags: '--causes', description: 'Dead items by cause instead' },
  ],
  examples: [`svc ${noun} list`, `svc ${noun} list --state dead --json`, `svc ${noun} list --causes`],
  async run(context, _args, options) {
    if (options['causes'] === true) return listCauses(context, noun, options);
    const { print, json } = context;
    const request = {
      state: wordOption(options, 'state', states),
      endpoint: textOption(options, 'endpoint'),
      limit: countOption(options, 'limit'),
      after: textOption(options, 'after'),
    };
    const page = await askItems(context, noun, (items) => items.page(request));
    if (json) print.json(page);
    else if (page.items.length === 0) print.text(`nothing in the ${noun}`);
    else {
      const head = ['id', 'state', 'kind', 'endpoint', 'attempts', 'age', 'error'];
      print.table(
        head,
        page.items.map((item) =>
          [
            item['id'],
            item['state'],
            item['kind'],
            item['endpoint'],
            item['attempts'],
            ageOf(item[since]),
            item['lastError'],
          ].map(shown),
        ),
      );
      if (page.next !== undefined) print.note(`more: svc ${noun} list --after ${page.next}`);
    }
    return EXIT.ok;
  },
});

const show = ({ noun }: ItemStoreWords): Command => ({
  noun,
  verb: 'show',
  args: '<id>',
  summary: `Shows one item of the ${noun} with its error and its text`,
  examples: [`svc ${noun} show 0190f5a2-…`],
  async run(context, [id]) {
    const { print, json } = context;
    const item = await askItems(context, noun, (items) => items.show(textArgument(id, '<id>')));
    if (json) print.json(item);
    else for (const [name, value] of Object.entries(item)) print.text(`${print.color.dim(`${name}:`)} ${shown(value)}`);
    return EXIT.ok;
  },
});

const replay = ({ noun, answers, question }: ItemStoreWords): Command => ({
  noun,
  verb: 'replay',
  args: '[id]',
  summary:
    noun === 'inbox'
      ? 'Puts a dead item back in line, or all of a cause'
      : 'Puts a dead send back in line, or settles one whose end is unknown; or all of a cause',
  options: [answerOption(answers, question), ...selectionOptions(noun)],
  examples: [
    `svc ${noun} replay 0190f5a2-…`,
    `svc ${noun} replay 0190f5a2-… --answer done`,
    `svc ${noun} replay --code ${EXAMPLE_CODE[noun]}`,
  ],
  async run(context, [id], options) {
    const answer = wordOption(options, 'answer', answers);
    if (selectsMany(noun, id, options))
      return changeMany(context, noun, { change: { action: 'replay', answer }, options });
    return change(context, { noun, id: textArgument(id, '<id>'), change: { action: 'replay', answer } });
  },
});

const EXAMPLE_CODE = { inbox: 'handler_failed', outbox: 'platform_refused' } as const;

const answerOption = (answers: readonly string[], question: string): CommandOption => ({
  flags: '--answer <answer>',
  description: `For ${question}: ${answers.join(' or ')} (do it once more, or take it as done)`,
});

const ENDS = {
  hold: {
    inbox: 'Keeps an open item from its handlers until it is replayed',
    outbox: 'Keeps an open send from its platform until it is replayed',
    reason: 'ends the process',
  },
  drop: {
    inbox: 'Ends an item of the inbox for good',
    outbox: 'Ends an item of the outbox for good',
    reason: 'sent by hand',
  },
} as const;

const REASON: CommandOption = { flags: '--reason <text>', description: 'Kept with the event (needed)' };

const hold = ({ noun }: ItemStoreWords): Command => ({
  noun,
  verb: 'hold',
  args: '<id>',
  summary: ENDS.hold[noun],
  options: [REASON],
  examples: [`svc ${noun} hold 0190f5a2-… --reason "${ENDS.hold.reason}"`],
  async run(context, [id], options) {
    const reason = reasonIn(options, noun, 'hold');
    return change(context, { noun, id: textArgument(id, '<id>'), change: { action: 'hold', reason } });
  },
});

const drop = ({ noun }: ItemStoreWords): Command => ({
  noun,
  verb: 'drop',
  args: '[id]',
  summary: `${ENDS.drop[noun]}, or all of a cause`,
  options: [REASON, ...selectionOptions(noun)],
  examples: [
    `svc ${noun} drop 0190f5a2-… --reason "${ENDS.drop.reason}"`,
    `svc ${noun} drop --code ${EXAMPLE_CODE[noun]} --since 2d --reason "too old"`,
  ],
  async run(context, [id], options) {
    const isMany = selectsMany(noun, id, options);
    const reason = reasonIn(options, noun, 'drop');
    if (isMany) return changeMany(context, noun, { change: { action: 'drop', reason }, options });
    return change(context, { noun, id: textArgument(id, '<id>'), change: { action: 'drop', reason } });
  },
});

/** Throws `usage` if there is none. */
function reasonIn(options: Readonly<Record<string, unknown>>, noun: StoreName, action: 'hold' | 'drop'): string {
  const reason = textOption(options, 'reason');
  if (reason !== undefined) return reason;
  throw new SvcError('usage', '--reason is needed', {
    hint: `svc ${noun} ${action} <id> --reason "${ENDS[action].reason}"`,
  });
}

interface Change {
  readonly noun: StoreName;
  readonly id: string;
  readonly change: ItemChange;
}

const DONE = { replay: 'back in line', hold: 'held', drop: 'dropped' } as const;

async function change(context: CommandContext, { noun, id, change: asked }: Change): Promise<typeof EXIT.ok> {
  const { print, json } = context;
  const item: Item = await askItems(context, noun, (items) => items.change(id, asked));
  if (json) print.json(item);
  else print.text(`${DONE[asked.action]}: ${shown(id)} is ${shown(item['state'])}`);
  return EXIT.ok;
}

function ageOf(time: unknown): string {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at)) return '-';
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}
