// What metrics and the overview count: the same as a scan of the catalog would, without one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Reader } from '../../../worker/database/unit.ts';
import { Figures } from '../../../worker/workroom/figures.ts';
import { DatabaseJournal } from '../../../worker/workroom/journal/journal.ts';
import { HOUR_MS, OPERATOR, person, type Room, teamRoom, withFile } from '../../support/workroom/room.ts';

const counted = (room: Room) =>
  withFile(room.file, (database) =>
    database
      .prepare<[], { board: string; state: string; count: number }>(
        "SELECT board, state, count(*) AS count FROM workroom_catalog WHERE kind = 'item' GROUP BY board, state",
      )
      .all(),
  );
const sorted = <T>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

/** Items in each state; web-2 is blocked, and its blocker is overdue. */
async function fill(room: Room): Promise<void> {
  const { do: act } = room;
  const bob = person('bob');
  for (let number = 1; number <= 8; number += 1)
    await act(OPERATOR, { kind: 'new', board: 'web', title: `Item ${number}` });
  await act(bob, {
    kind: 'block',
    item: 'web-2',
    blocker: 'external',
    reason: 'DNS',
    until: room.clock.now() + HOUR_MS,
  });
  await act(OPERATOR, { kind: 'assign', item: 'web-3', member: 'bob' });
  for (const item of ['web-4', 'web-5', 'web-6']) await act(bob, { kind: 'take', item });
  for (const item of ['web-5', 'web-6']) await act(bob, { kind: 'submit', item });
  await act(OPERATOR, { kind: 'accept', item: 'web-6' });
  await act(OPERATOR, { kind: 'cancel', item: 'web-7' });
}

async function fire(room: Room, item: string): Promise<void> {
  const row = withFile(room.file, (database) =>
    database.prepare("SELECT * FROM due WHERE id = ? AND kind = 'workroom'").get(`workroom/${item}`),
  );
  await room.workroom.fire(row as Parameters<Room['workroom']['fire']>[0]);
}

describe('figures of the Workroom', () => {
  it('count items by board and state as a scan does, and 0 where there is none', async (t) => {
    const room = await teamRoom(t);
    await fill(room);
    await room.do(OPERATOR, { kind: 'board.add', board: 'ops', name: 'Operations' });
    const { items } = await new Figures(room.core, { ...room, source: room.journal, begin: 0 }).read(undefined);

    const some = items.filter(({ count }) => count > 0);
    assert.deepEqual(sorted(some), sorted(counted(room)));
    assert.deepEqual([some.length, items.length], [7, 14]);
  });

  it('tell how long a board is blocked, and what is overdue while its blocker is open', async (t) => {
    const room = await teamRoom(t);
    await fill(room);
    const figures = new Figures(room.core, { ...room, source: room.journal, begin: 0 });
    const seen = async () => {
      const { overdue, blockedOldest } = await figures.read(undefined);
      return [overdue[0]?.count, blockedOldest[0]?.seconds];
    };
    assert.deepEqual(await seen(), [0, 0]);
    room.clock.moveTo(room.clock.now() + 2 * HOUR_MS);
    assert.deepEqual(await seen(), [0, 7_200]);
    await fire(room, 'web-2');
    assert.deepEqual(await seen(), [1, 7_200]);
    await room.do(OPERATOR, { kind: 'unblock', item: 'web-2' });
    assert.deepEqual(await seen(), [0, 0]);
  });

  it('count accepted commands from the start on, and refused ones by their reason', async (t) => {
    const room = await teamRoom(t);
    const begin = (await new Figures(room.core, { ...room, source: room.journal, begin: 0 }).read(undefined)).seq;
    const figures = new Figures(room.core, { ...room, source: room.journal, begin });
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One', assign: 'bob' });
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One', assign: 'bob' }, 'twice');
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One', assign: 'bob' }, 'twice');
    await room.do(person('cid'), { kind: 'submit', item: 'web-1' });
    await room.do(OPERATOR, { kind: 'comment', item: 'web-9', text: 'x' });
    const { commands } = await figures.read(undefined);

    assert.deepEqual(
      commands.filter(({ count }) => count > 0),
      [
        { outcome: 'accepted', count: 2 },
        { outcome: 'wrong_state', count: 1 },
        { outcome: 'unknown_item', count: 1 },
      ],
    );
  });

  it('read no table from end to end', async (t) => {
    const room = await teamRoom(t);
    await fill(room);
    const asked = new Map<string, readonly unknown[]>();
    const reader: Reader = {
      all(query) {
        const { sql, parameters } = query.compile();
        asked.set(sql, parameters);
        return room.core.reader.all(query);
      },
      async first(query) {
        return (await this.all(query))[0];
      },
    };
    await new Figures({ ...room.core, reader }, { ...room, source: new DatabaseJournal(reader), begin: 0 }).read(
      undefined,
    );
    const plans = withFile(room.file, (database) =>
      [...asked].flatMap(([text, parameters]) =>
        database
          .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
          .all(...parameters)
          .map(({ detail }) => detail),
      ),
    );

    assert.ok(plans.some((plan) => plan.includes('workroom_catalog_state')));
    assert.deepEqual(
      plans.filter((plan) => plan.startsWith('SCAN')),
      [],
    );
  });
});
