// The decision of the Workroom as a table: each command from each status, by each role, blocked and not. Pure.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkCommand } from '../../../worker/workroom/board/commands.ts';
import { parseCommand } from '../../../worker/workroom/board/commands.ts';
import { decide } from '../../../worker/workroom/board/decide.ts';
import { announcements, nextAnnouncement } from '../../../worker/workroom/board/due-times.ts';
import {
  type Actor,
  type Decision,
  type Item,
  type Role,
  stateOf,
  type View,
} from '../../../worker/workroom/board/model.ts';
import { applyFacts } from '../../../worker/workroom/journal/catalog-rows.ts';

const NOW = 1_000_000;
const OPERATOR: Actor = { id: 'token:full', member: undefined, isOperator: true };
const person = (member: string): Actor => ({ id: `member:${member}`, member, isOperator: false });
const PLUGIN: Actor = { id: 'plugin:tickets', member: undefined, isOperator: false };

const EMPTY: View = { team: { version: 0, members: {} }, boards: {}, items: {}, lastItems: {}, quarantined: [] };

function after(view: View, actor: Actor, ...commands: readonly WorkCommand[]): View {
  return commands.reduce((now, command) => {
    const decision = decide(command, { view: now, actor, now: NOW });
    assert.equal(decision.kind, 'decided', `${JSON.stringify(command)}: ${JSON.stringify(decision)}`);
    return decision.kind === 'decided' ? applyFacts(now, decision.facts) : now;
  }, view);
}

const ROLES: Readonly<Record<string, Role | undefined>> = {
  ann: 'owner',
  bob: 'worker',
  cid: 'worker',
  eve: 'reviewer',
  zoe: undefined,
};
const TEAM = after(
  EMPTY,
  OPERATOR,
  { kind: 'board.add', board: 'web', name: 'Web' },
  ...Object.entries(ROLES).flatMap(([member, role]): WorkCommand[] => [
    { kind: 'member.add', member },
    ...(role === undefined ? [] : [{ kind: 'role.grant', board: 'web', member, role } as const]),
  ]),
);

/** `web-1`, which eve made and bob has from `active` on, in each status. */
const OPEN = after(TEAM, person('eve'), { kind: 'new', board: 'web', title: 'One' });
const ACTIVE = after(OPEN, person('bob'), { kind: 'take', item: 'web-1' });
const REVIEW = after(ACTIVE, person('bob'), { kind: 'submit', item: 'web-1' });
const DONE = after(REVIEW, person('ann'), { kind: 'accept', item: 'web-1' });
const CANCELLED = after(OPEN, person('ann'), { kind: 'cancel', item: 'web-1' });
const VIEWS = { open: OPEN, active: ACTIVE, review: REVIEW, done: DONE, cancelled: CANCELLED };

const COMMANDS = {
  assign: { kind: 'assign', item: 'web-1', member: 'bob' },
  take: { kind: 'take', item: 'web-1' },
  start: { kind: 'start', item: 'web-1' },
  drop: { kind: 'drop', item: 'web-1' },
  submit: { kind: 'submit', item: 'web-1' },
  accept: { kind: 'accept', item: 'web-1' },
  reject: { kind: 'reject', item: 'web-1' },
  cancel: { kind: 'cancel', item: 'web-1' },
  reopen: { kind: 'reopen', item: 'web-1' },
  edit: { kind: 'edit', item: 'web-1', title: 'Other' },
  due: { kind: 'due', item: 'web-1', due: NOW + 1 },
  comment: { kind: 'comment', item: 'web-1', text: 'x' },
  block: { kind: 'block', item: 'web-1', blocker: 'external', reason: 'x' },
} as const satisfies Record<string, WorkCommand>;

/** Who may, by status. Everybody else is refused. */
const ALLOWED: Readonly<Record<keyof typeof COMMANDS, Partial<Record<keyof typeof VIEWS, readonly string[]>>>> = {
  assign: { open: ['ann', 'bob'], active: ['ann', 'bob'] },
  take: { open: ['ann', 'bob', 'cid'] },
  start: {},
  drop: { active: ['ann', 'bob'] },
  submit: { active: ['bob'] },
  accept: { review: ['ann', 'eve'] },
  reject: { review: ['ann', 'eve'] },
  cancel: { open: ['ann', 'eve'], active: ['ann', 'eve'], review: ['ann', 'eve'] },
  reopen: { done: ['ann', 'eve'], cancelled: ['ann', 'eve'] },
  edit: { open: ['ann', 'eve'], active: ['ann', 'bob', 'eve'], review: ['ann', 'bob', 'eve'] },
  due: { open: ['ann', 'eve'], active: ['ann', 'bob', 'eve'], review: ['ann', 'bob', 'eve'] },
  comment: {
    open: ['ann', 'bob', 'cid', 'eve'],
    active: ['ann', 'bob', 'cid', 'eve'],
    review: ['ann', 'bob', 'cid', 'eve'],
    done: ['ann', 'bob', 'cid', 'eve'],
    cancelled: ['ann', 'bob', 'cid', 'eve'],
  },
  block: {
    open: ['ann', 'bob', 'cid', 'eve'],
    active: ['ann', 'bob', 'cid', 'eve'],
    review: ['ann', 'bob', 'cid', 'eve'],
  },
};

const code = (decision: Decision): string => (decision.kind === 'refused' ? decision.code : 'decided');
const itemOf = (view: View): Item => view.items['web-1'] as Item;

describe('the decision of the Workroom', () => {
  for (const [name, command] of Object.entries(COMMANDS))
    for (const [status, view] of Object.entries(VIEWS))
      it(`${name} of an item that is ${status} is for those of the table alone`, () => {
        const allowed = Object.keys(ROLES).filter(
          (member) => decide(command, { view, actor: person(member), now: NOW }).kind === 'decided',
        );
        const expected = ALLOWED[name as keyof typeof COMMANDS][status as keyof typeof VIEWS] ?? [];
        assert.deepEqual(allowed, expected);
      });

  it('shows states, and goes back to what an item was when its last blocker ends', () => {
    const assigned = after(OPEN, person('ann'), { kind: 'assign', item: 'web-1', member: 'bob' });
    const blocked = after(ACTIVE, person('bob'), COMMANDS.block, { ...COMMANDS.block, blocker: 'human_input' });
    const half = after(blocked, person('ann'), { kind: 'unblock', item: 'web-1' });
    const free = after(half, person('cid'), { kind: 'answer', item: 'web-1', text: 'yes' });
    assert.deepEqual(
      [OPEN, assigned, ACTIVE, blocked, half, free, REVIEW, DONE].map((view) => stateOf(itemOf(view))),
      ['open', 'assigned', 'active', 'blocked', 'blocked', 'active', 'review', 'done'],
    );
  });

  it('refuses to take, start, submit and accept what is blocked', () => {
    const blocked = (view: View): View => after(view, person('cid'), COMMANDS.block);
    const cases: readonly (readonly [WorkCommand, View, string])[] = [
      [COMMANDS.take, OPEN, 'bob'],
      [COMMANDS.submit, ACTIVE, 'bob'],
      [COMMANDS.accept, REVIEW, 'ann'],
    ];
    for (const [command, view, member] of cases)
      assert.equal(code(decide(command, { view: blocked(view), actor: person(member), now: NOW })), 'item_blocked');
  });

  it('leaves approvals to people who did not ask for them', () => {
    const asked = after(ACTIVE, person('eve'), { kind: 'block', item: 'web-1', blocker: 'approval', reason: 'money' });
    const approve = (actor: Actor): string =>
      code(decide({ kind: 'approve', item: 'web-1' }, { view: asked, actor, now: NOW }));
    assert.deepEqual([person('eve'), person('bob'), PLUGIN, person('ann'), OPERATOR].map(approve), [
      'not_allowed',
      'not_allowed',
      'not_allowed',
      'decided',
      'decided',
    ]);
  });

  it('ends the dependencies on an item with it, and refuses a circle', () => {
    const two = after(
      ACTIVE,
      person('ann'),
      { kind: 'new', board: 'web', title: 'Two' },
      { kind: 'new', board: 'web', title: 'Three' },
      { kind: 'block', item: 'web-2', blocker: 'dependency', needs: 'web-1', reason: 'x' },
      { kind: 'block', item: 'web-3', blocker: 'dependency', needs: 'web-2', reason: 'x' },
    );
    const circle = { kind: 'block', item: 'web-1', blocker: 'dependency', needs: 'web-3', reason: 'x' } as const;
    assert.equal(code(decide(circle, { view: two, actor: person('ann'), now: NOW })), 'dependency_cycle');
    const done = after(after(two, person('bob'), COMMANDS.submit), person('ann'), COMMANDS.accept);
    assert.deepEqual(
      ['web-2', 'web-3'].map((id) => stateOf(done.items[id] as Item)),
      ['open', 'blocked'],
    );
  });

  it('announces deadlines and silence, again after a while, and nothing of an item that has ended', () => {
    const reminding = { stuckMs: 100, remindMs: 10 };
    const due = after(OPEN, person('ann'), { kind: 'due', item: 'web-1', due: NOW + 5 });
    assert.equal(nextAnnouncement(itemOf(due), reminding), NOW + 5);
    const told = { ...itemOf(due), overdueAt: NOW + 5 };
    assert.equal(nextAnnouncement(told, reminding), NOW + 15);
    assert.equal(nextAnnouncement(itemOf(OPEN), reminding), NOW + 100);
    assert.equal(nextAnnouncement(itemOf(OPEN), { ...reminding, stuckMs: 0 }), undefined);
    assert.deepEqual(announcements(itemOf(DONE), reminding), []);
  });

  it('refuses a member of another name, an agent, and an account of two', () => {
    const agent = after(
      TEAM,
      OPERATOR,
      { kind: 'member.add', member: 'bot', binding: 'main' },
      { kind: 'role.grant', board: 'web', member: 'bot', role: 'worker' },
      { kind: 'new', board: 'web', title: 'One' },
      { kind: 'member.link', member: 'ann', endpoint: 'root/irc:irc~a', user: 'ann' },
    );
    const by = (command: WorkCommand): string => code(decide(command, { view: agent, actor: OPERATOR, now: NOW }));
    assert.equal(by({ kind: 'assign', item: 'web-1', member: 'bot' }), 'agents_missing');
    assert.equal(by({ kind: 'assign', item: 'web-1', member: 'zoe' }), 'unknown_member');
    assert.equal(by({ kind: 'member.link', member: 'bob', endpoint: 'root/irc:irc~a', user: 'ann' }), 'already_exists');
    assert.equal(by({ kind: 'take', item: 'web-1' }), 'unknown_member');
  });
});

describe('a command from outside', () => {
  const fault = (given: unknown): string => {
    try {
      parseCommand(given, 256);
      return 'taken';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('is taken by its kind and keys, and refused with the key otherwise', () => {
    assert.equal(fault({ kind: 'take', item: 'web-1' }), 'taken');
    assert.equal(fault({ kind: 'due', item: 'web-1', due: null }), 'taken');
    const refused: readonly (readonly [unknown, RegExp])[] = [
      [undefined, /^command: expected/],
      [[], /^command: expected/],
      [{ kind: 'toString' }, /^\/kind: expected one of new, /],
      [{ kind: 'take' }, /^\/item: expected a text/],
      [{ kind: 'take', item: 'web-0' }, /^\/item: expected an item such as web-7/],
      [{ kind: 'take', item: 'web-1', note: 'x' }, /^\/note: expected no such key: take takes item/],
      [{ kind: 'comment', item: 'web-1', text: ' ' }, /^\/text: expected a text that is not empty/],
      [{ kind: 'comment', item: 'web-1', text: '\ud83d' }, /^\/text: expected well-formed Unicode/],
      [{ kind: 'comment', item: 'web-1', text: 'ü'.repeat(200) }, /^\/text: expected at most 256 bytes/],
      [{ kind: 'block', item: 'web-1', blocker: 'mood', reason: 'x' }, /^\/blocker: expected one of dependency, /],
      [{ kind: 'due', item: 'web-1', due: 1.5 }, /^\/due: expected epoch milliseconds/],
    ];
    for (const [given, expected] of refused) assert.match(fault(given), expected, JSON.stringify(given));
  });
});
