// `svc workroom status|list|show|log`: what the board and its journal hold.
import type { WorkEventPage, WorkItemPage, WorkItemShown, WorkOverview } from '../../../../shared/api/workroom.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import type { Command } from '../../command.ts';
import { countOption, queryOf, textArgument, textOption, wordOption } from '../../options.ts';
import { shown } from '../../output/printable.ts';

const STATES = ['open', 'assigned', 'active', 'blocked', 'review', 'done', 'cancelled'];

const status: Command = {
  noun: 'workroom',
  verb: 'status',
  summary: 'Says how the journal stands, and how many items each board has; exit 1 where something is damaged',
  examples: ['svc workroom status', 'svc workroom status --json'],
  async run({ host, print, json }) {
    const { body } = await (await host()).request('GET', '/api/workroom');
    const overview = body as WorkOverview;
    const { verified, quarantined, head } = overview;
    const isSound = quarantined.length === 0 && (verified?.faults.length ?? 0) === 0;
    if (json) print.json(overview);
    else {
      print.text(`journal: ${head.seq} events, kept in the ${overview.store}${head.seq === 0 ? '' : `, ${head.hash}`}`);
      print.text(
        verified === null
          ? 'verified: not yet'
          : `verified: ${verified.at} up to ${verified.seq}, ${verified.faults.length} faults`,
      );
      for (const stream of quarantined)
        print.text(print.color.bad(`${shown(stream)} takes no command: svc workroom verify`));
      print.table(
        ['board', 'items'],
        overview.boards.map(({ board, states }) => [
          shown(board),
          STATES.flatMap((state) => (states[state] === undefined ? [] : [`${states[state]} ${state}`])).join(', ') ||
            'none',
        ]),
      );
    }
    return isSound ? EXIT.ok : EXIT.failed;
  },
};

const list: Command = {
  noun: 'workroom',
  verb: 'list',
  summary: 'Lists items, the last changed first; without --state those that have not ended',
  options: [
    { flags: '--board <board>', description: 'Only items of this board' },
    { flags: '--state <state>', description: `Only items that are ${STATES.join(', ')}` },
    { flags: '--assignee <member>', description: 'Only items of this member' },
    { flags: '--limit <n>', description: 'Items a page, 1 to 200', default: 50 },
    { flags: '--after <cursor>', description: 'The page after the one that named this cursor' },
  ],
  examples: ['svc workroom list', 'svc workroom list --board web --state blocked'],
  async run({ host, print, json }, _args, options) {
    const query = queryOf({
      board: textOption(options, 'board'),
      state: wordOption(options, 'state', STATES),
      assignee: textOption(options, 'assignee'),
      limit: countOption(options, 'limit'),
      after: textOption(options, 'after'),
    });
    const page = (await (await host()).request('GET', `/api/workroom/items${query}`)).body as WorkItemPage;
    if (json) print.json(page);
    else if (page.items.length === 0) print.text('no items');
    else {
      const rows = page.items.map((item) => [
        shown(item.id),
        item.state,
        shown(item.assignee ?? ''),
        shown(item.title ?? ''),
        item.blockers
          .map(
            ({ id, kind, needs, overdue }) =>
              `${id} ${kind}${needs === null ? '' : ` ${needs}`}${overdue ? ' overdue' : ''}`,
          )
          .join(', '),
      ]);
      print.table(['item', 'state', 'assignee', 'title', 'blockers'], rows);
      if (page.next !== undefined) print.note(`more: --after ${page.next}`);
    }
    return EXIT.ok;
  },
};

const show: Command = {
  noun: 'workroom',
  verb: 'show',
  args: '<item>',
  summary: 'Shows one item with its blockers and comments',
  examples: ['svc workroom show web-7'],
  async run({ host, print, json }, [id]) {
    const path = `/api/workroom/items/${encodeURIComponent(textArgument(id, '<item>'))}`;
    const item = (await (await host()).request('GET', path)).body as WorkItemShown;
    if (json) {
      print.json(item);
      return EXIT.ok;
    }
    const line = (name: string, value: unknown): void => print.text(`${print.color.dim(`${name}:`)} ${shown(value)}`);
    line('item', item.id);
    line('title', item.title ?? '(erased)');
    if (item.text != null) line('text', item.text);
    line('state', item.state);
    if (item.assignee != null) line('assignee', item.assignee);
    if (item.due !== null) line('due', `${item.due}${item.overdue ? ', overdue' : ''}`);
    line('version', item.version);
    line('created', `${item.createdAt} by ${item.creator ?? ''}`);
    for (const blocker of item.blockers)
      line(
        blocker.id,
        `${blocker.kind}${blocker.needs === null ? '' : `, needs ${blocker.needs}`}, since ${blocker.since}: ${blocker.reason ?? '(erased)'} (${blocker.actions.join(', ')})`,
      );
    for (const { by, at, text } of item.comments ?? []) line(at, `${by}: ${text ?? '(erased)'}`);
    return EXIT.ok;
  },
};

const log: Command = {
  noun: 'workroom',
  verb: 'log',
  summary: 'Shows events of the journal in order',
  options: [
    { flags: '--stream <stream>', description: 'Only of team, board/<id> or item/<id>' },
    { flags: '--after <seq>', description: 'Events behind this number', default: 0 },
    { flags: '--limit <n>', description: 'Events, 1 to 500', default: 100 },
  ],
  examples: ['svc workroom log', 'svc workroom log --stream item/web-7'],
  async run({ host, print, json }, _args, options) {
    const query = queryOf({
      stream: textOption(options, 'stream'),
      after: countOption(options, 'after', 0),
      limit: countOption(options, 'limit'),
    });
    const page = (await (await host()).request('GET', `/api/workroom/events${query}`)).body as WorkEventPage;
    if (json) print.json(page);
    else {
      const rows = page.events.map(({ seq, at, stream, version, kind, actor, texts }) => [
        String(seq),
        at,
        `${shown(stream)} v${version}`,
        kind,
        shown(actor),
        Object.values(texts).map(shown).join(' | '),
      ]);
      print.table(['seq', 'at', 'stream', 'event', 'actor', 'words'], rows);
      if (page.next !== undefined) print.note(`more: --after ${page.next}`);
    }
    return EXIT.ok;
  },
};

export const commands: Command[] = [status, list, show, log];
