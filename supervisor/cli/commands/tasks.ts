// `svc tasks list|cancel`.
import { randomUUID } from 'node:crypto';
import type { TaskPage, WaitingTask } from '../../../shared/api/task.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import type { Command } from '../command.ts';
import { countOption, queryOf, textArgument, textOption } from '../options.ts';
import { shown } from '../output/printable.ts';

const MOST_DATA_CHARACTERS = 60;

const list: Command = {
  noun: 'tasks',
  verb: 'list',
  summary: 'Lists what waits for its time: tasks of plugins, and the next times of cron handlers',
  options: [
    { flags: '--plugin <slot>', description: 'Only those of this plugin' },
    { flags: '--limit <n>', description: 'Tasks a page, 1 to 200', default: 50 },
    { flags: '--after <cursor>', description: 'The page after the one that named this cursor' },
  ],
  examples: ['svc tasks list', 'svc tasks list --plugin remind --json'],
  async run({ host, print, json }, _args, options) {
    const query = queryOf({
      plugin: textOption(options, 'plugin'),
      limit: countOption(options, 'limit'),
      after: textOption(options, 'after'),
    });
    const { body } = await (await host()).request('GET', `/api/tasks${query}`);
    const page = body as TaskPage;
    if (json) print.json(page);
    else if (page.items.length === 0) print.text('no task waits');
    else {
      print.table(['id', 'next', 'task', 'data'], page.items.map(row));
      if (page.next !== undefined) print.note(`more: svc tasks list --after ${page.next}`);
    }
    return EXIT.ok;
  },
};

const cancel: Command = {
  noun: 'tasks',
  verb: 'cancel',
  args: '<id>',
  summary: 'Takes a waiting task away before it is due',
  examples: ['svc tasks cancel 12-mi3k2x9c'],
  async run({ host, print, json }, [id]) {
    const task = textArgument(id, '<id>');
    const change = { body: {}, idempotencyKey: randomUUID() };
    const { body } = await (await host()).request('POST', `/api/tasks/${encodeURIComponent(task)}/cancel`, change);
    if (json) print.json(body);
    else
      print.text(
        `cancelled: ${shown((body as WaitingTask).capability)}, which was due at ${shown((body as WaitingTask).at)}`,
      );
    return EXIT.ok;
  },
};

export const commands: Command[] = [list, cancel];

const row = ({ id, at, capability, kind, data }: WaitingTask): readonly string[] => [
  shown(id),
  shown(at),
  shown(capability),
  Array.from(shown(kind === 'cron' ? patternOf(data) : data))
    .slice(0, MOST_DATA_CHARACTERS)
    .join(''),
];

function patternOf(data: unknown): string {
  const { at, timezone } = data as { readonly at?: unknown; readonly timezone?: unknown };
  return `${String(at)} (${String(timezone)})`;
}
