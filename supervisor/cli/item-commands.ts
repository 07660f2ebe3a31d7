// `svc inbox …` and `svc outbox …`: list, show, replay, drop. The two stores differ in a few words only.
import { randomUUID } from 'node:crypto';
import { EXIT } from '../../shared/exit-codes.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Command, CommandContext, CommandOption, HostClient } from './command.ts';
import { countOption, queryOf, textArgument, textOption, wordOption } from './options.ts';
import { shown } from './printable.ts';

export interface ItemStoreWords {
  readonly noun: 'inbox' | 'outbox';
  readonly states: readonly string[];
  /** Field with the time from which the age is counted. */
  readonly since: string;
  /** What a replay may say about what nobody knows the end of. */
  readonly answers: readonly string[];
  /** What that is. */
  readonly question: string;
}

type Item = Readonly<Record<string, unknown>>;
interface Page {
  readonly items: readonly Item[];
  readonly next?: string;
  readonly total: number;
}

export const itemCommands = (store: ItemStoreWords): Command[] => [
  list(store),
  show(store),
  replay(store),
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
  ],
  examples: [`svc ${noun} list`, `svc ${noun} list --state dead --json`],
  async run({ host, print, json }, _args, options) {
    const query = queryOf({
      state: wordOption(options, 'state', states),
      endpoint: textOption(options, 'endpoint'),
      limit: countOption(options, 'limit'),
      after: textOption(options, 'after'),
    });
    const { body } = await (await host()).request('GET', `/api/${noun}${query}`);
    const page = body as Page;
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
  async run({ host, print, json }, [id]) {
    const { body } = await (await host()).request('GET', pathOf(noun, textArgument(id, '<id>')));
    if (json) print.json(body);
    else
      for (const [name, value] of Object.entries(body as Item))
        print.text(`${print.color.dim(`${name}:`)} ${shown(value)}`);
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
    return change(context, {
      noun,
      id: textArgument(id, '<id>'),
      action: 'replay',
      body: answer === undefined ? {} : { answer },
    });
  },
});

const answerOption = (answers: readonly string[], question: string): CommandOption => ({
  flags: '--answer <answer>',
  description: `For ${question}: ${answers.join(' or ')} (do it once more, or take it as done)`,
});

const drop = ({ noun }: ItemStoreWords): Command => ({
  noun,
  verb: 'drop',
  args: '<id>',
  summary: `Ends an item of the ${noun} for good`,
  options: [{ flags: '--reason <text>', description: 'Kept with the event (needed)' }],
  examples: [`svc ${noun} drop 0190f5a2-… --reason "sent by hand"`],
  async run(context, [id], options) {
    const reason = textOption(options, 'reason');
    if (reason === undefined)
      throw new SvcError('usage', '--reason is needed', { hint: `svc ${noun} drop <id> --reason "sent by hand"` });
    return change(context, { noun, id: textArgument(id, '<id>'), action: 'drop', body: { reason } });
  },
});

interface Change {
  readonly noun: ItemStoreWords['noun'];
  readonly id: string;
  readonly action: 'replay' | 'drop';
  readonly body: object;
}

/** Reads the item first: the change is meant for the item as it is now. */
async function change(
  { host, print, json }: CommandContext,
  { noun, id, action, body }: Change,
): Promise<typeof EXIT.ok> {
  const client: HostClient = await host();
  const path = pathOf(noun, id);
  const tag = (await client.request('GET', path)).headers.get('etag');
  const answer = await client.request('POST', `${path}/${action}`, {
    body,
    idempotencyKey: randomUUID(),
    ...(tag === null ? {} : { headers: { 'If-Match': tag } }),
  });
  if (json) print.json(answer.body);
  else
    print.text(
      `${action === 'drop' ? 'dropped' : 'back in line'}: ${shown(id)} is ${shown((answer.body as Item)['state'])}`,
    );
  return EXIT.ok;
}

const pathOf = (noun: string, id: string): string => `/api/${noun}/${encodeURIComponent(id)}`;

function ageOf(time: unknown): string {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at)) return '-';
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}
