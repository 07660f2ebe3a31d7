// `svc inbox …` and `svc outbox …`: list, show, replay, hold, drop. The two stores differ only in a few words.
import { EXIT } from '../../shared/process/exit-codes.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Command, CommandContext, CommandOption } from './command.ts';
import { askItems, type Item, type ItemChange, type StoreName } from './connect/item-source.ts';
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
  reasoned(store, 'hold'),
  reasoned(store, 'drop'),
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
  ],
  examples: [`svc ${noun} list`, `svc ${noun} list --state dead --json`],
  async run(context, _args, options) {
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
  args: '<id>',
  summary:
    noun === 'inbox'
      ? 'Puts a dead item back in line'
      : 'Puts a dead send back in line, or settles one whose end is unknown',
  options: [answerOption(answers, question)],
  examples: [`svc ${noun} replay 0190f5a2-…`, `svc ${noun} replay 0190f5a2-… --answer done`],
  async run(context, [id], options) {
    const answer = wordOption(options, 'answer', answers);
    return change(context, { noun, id: textArgument(id, '<id>'), change: { action: 'replay', answer } });
  },
});

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

const reasoned = ({ noun }: ItemStoreWords, action: 'hold' | 'drop'): Command => ({
  noun,
  verb: action,
  args: '<id>',
  summary: ENDS[action][noun],
  options: [{ flags: '--reason <text>', description: 'Kept with the event (needed)' }],
  examples: [`svc ${noun} ${action} 0190f5a2-… --reason "${ENDS[action].reason}"`],
  async run(context, [id], options) {
    const reason = textOption(options, 'reason');
    if (reason === undefined)
      throw new SvcError('usage', '--reason is needed', {
        hint: `svc ${noun} ${action} <id> --reason "${ENDS[action].reason}"`,
      });
    return change(context, { noun, id: textArgument(id, '<id>'), change: { action, reason } });
  },
});

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
