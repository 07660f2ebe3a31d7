// The board of a test bot: the real Workroom over the disk in memory, with members and boards that are there at the start.
import type { Core } from '../core/core.ts';
import type { RunPart } from '../handling/run/run-part.ts';
import type { WorkItem } from '../sdk/workroom.ts';
import type { TimerService } from '../timers/timer-service.ts';
import type { WorkCommand } from '../workroom/board/commands.ts';
import { readItemPage } from '../workroom/read-catalog.ts';
import { shownItem, workroomPart } from '../workroom/run-part.ts';
import { Workroom } from '../workroom/workroom.ts';
import type { TestWorkroom } from './test-bot.ts';

/** A test has no more items. */
const MOST_ITEMS = 1_000;
const HOUR_MS = 3_600_000;
const SETTINGS = { stuckMs: 72 * HOUR_MS, remindMs: 24 * HOUR_MS, maxTextBytes: 16_384 };

export interface TestBoard {
  readonly part: RunPart;
  /** Stores what is there at the start. After a restart everything is there already. */
  begin(): Promise<void>;
  items(): Promise<readonly WorkItem[]>;
}

export function testBoard(
  core: Core,
  { boards }: TestWorkroom,
  of: { readonly endpoint: string; readonly timers: () => TimerService },
): TestBoard {
  const workroom = new Workroom(core, () => SETTINGS, { due: (at) => of.timers().expect(at) });
  return {
    part: workroomPart(core, workroom),
    async items() {
      const page = await readItemPage(core.reader, { ended: true }, { after: undefined, limit: MOST_ITEMS });
      return page.items.map(shownItem);
    },
    async begin() {
      of.timers().on('workroom', (row) => workroom.fire(row));
      for (const [index, command] of commandsOf(boards, of.endpoint).entries()) {
        const actor = { id: 'token:test', member: undefined, isOperator: true };
        const outcome = await workroom.do(command, { actor, command: { id: `test/${index}`, cause: null } });
        if (outcome.kind === 'refused') throw new Error(`the board of the test: ${outcome.reason}`);
      }
    },
  };
}

function commandsOf(boards: TestWorkroom['boards'], endpoint: string): readonly WorkCommand[] {
  const members = new Set(Object.values(boards).flatMap(({ members: all }) => Object.keys(all)));
  return [
    ...[...members].flatMap((member): WorkCommand[] => [
      { kind: 'member.add', member },
      { kind: 'member.link', member, endpoint, user: member },
    ]),
    ...Object.entries(boards).flatMap(([board, { members: all, conversations = [], review = true }]): WorkCommand[] => [
      { kind: 'board.add', board, name: board, review },
      ...Object.entries(all).map(([member, role]): WorkCommand => ({ kind: 'role.grant', board, member, role })),
      ...conversations.map(
        (conversation): WorkCommand => ({ kind: 'conversation.bind', board, endpoint, conversation }),
      ),
    ]),
  ];
}
