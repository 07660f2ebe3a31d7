// Random commands of many members over the store: rights, versions and states hold, and the catalog is the fold of the journal.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkCommand } from '../../../worker/workroom/board/commands.ts';
import { isEnded, openBlockers } from '../../../worker/workroom/board/model.ts';
import { readItemPage } from '../../../worker/workroom/read-catalog.ts';
import { OPERATOR, person, STORES, teamRoom } from '../../support/workroom/room.ts';
import { Rulebook } from '../../support/workroom/rulebook.ts';

const COMMANDS = 150;
const AT_ONCE = 5;

/** Mulberry32: the same numbers for a seed on each machine. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function commandOf(random: () => number): WorkCommand {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const item = `web-${1 + Math.floor(random() * 8)}`;
  const needs = `web-${1 + Math.floor(random() * 8)}`;
  const member = pick(['ann', 'bob', 'cid', 'eve']);
  return pick<WorkCommand>([
    { kind: 'new', board: 'web', title: 'Something' },
    { kind: 'take', item },
    { kind: 'take', item },
    { kind: 'start', item },
    { kind: 'drop', item },
    { kind: 'submit', item, text: 'there' },
    { kind: 'submit', item },
    { kind: 'accept', item },
    { kind: 'accept', item },
    { kind: 'reject', item, text: 'no' },
    { kind: 'cancel', item },
    { kind: 'reopen', item },
    { kind: 'assign', item, member },
    { kind: 'comment', item, text: 'words' },
    { kind: 'block', item, blocker: 'dependency', needs, reason: 'first that' },
    { kind: 'block', item, blocker: 'approval', reason: 'money' },
    { kind: 'unblock', item },
    { kind: 'approve', item },
    { kind: 'role.revoke', board: 'web', member, role: 'reviewer' },
    { kind: 'role.grant', board: 'web', member, role: 'reviewer' },
  ]);
}

describe('random commands', () => {
  for (const [index, seed] of [1, 2, 3, 4].entries()) {
    const store = STORES[index % STORES.length] ?? 'database';
    it(`keep rights, versions and states, and a catalog that is the fold of the journal (store ${store}, seed ${seed})`, async (t) => {
      const random = randomOf(seed);
      const room = await teamRoom(t, { store });
      let accepted = 0;
      for (let made = 0; made < COMMANDS; made += AT_ONCE) {
        const members = ['ann', 'bob', 'cid', 'eve'];
        const outcomes = await Promise.all(
          Array.from({ length: AT_ONCE }, () => {
            const command = commandOf(random);
            const member = members[Math.floor(random() * members.length)] ?? 'ann';
            return room.do(command.kind.startsWith('role.') ? OPERATOR : person(member), command);
          }),
        );
        accepted += outcomes.filter(({ kind }) => kind === 'accepted').length;
      }
      const { faults } = room.verify();
      assert.deepEqual(faults, []);
      const rulebook = new Rulebook(OPERATOR.id);
      for (const event of await room.journal.slice({ after: 0, limit: 10_000 }))
        assert.equal(rulebook.faultOf(event), undefined, `event ${event.seq}`);
      assert.ok(accepted > COMMANDS / 10, `${accepted} accepted`);
      const { items } = await readItemPage(room.core.reader, { ended: true }, { after: undefined, limit: 200 });
      const byId = new Map(items.map((item) => [item.id, item]));
      for (const item of items) {
        if (item.status === 'active' || item.status === 'review') assert.notEqual(item.assignee, undefined, item.id);
        if (isEnded(item)) continue;
        for (const { needs } of openBlockers(item))
          if (needs !== undefined) assert.notEqual(byId.get(needs)?.status, 'done', `${item.id} waits for ${needs}`);
      }
    });
  }
});
