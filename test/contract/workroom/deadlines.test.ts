// Deadlines of the Workroom: whatever is done to an item and to the settings, the host looks at it no later than its next announcement.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DueRow } from '../../../worker/timers/due-store.ts';
import type { WorkCommand } from '../../../worker/workroom/board/commands.ts';
import { nextAnnouncement } from '../../../worker/workroom/board/due-times.ts';
import type { Item } from '../../../worker/workroom/board/model.ts';
import type { JournalStore } from '../../../worker/workroom/journal/journal.ts';
import { planDues } from '../../../worker/workroom/plan-dues.ts';
import type { WorkroomSettings } from '../../../worker/workroom/workroom.ts';
import { type Random, seeded } from '../../kits/crash/kit/random.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import {
  HOUR_MS,
  OPERATOR,
  openRoom,
  type Room,
  type RoomOptions,
  SETTINGS,
  STORES,
  withFile,
} from '../../support/workroom/room.ts';

const STEPS = 80;
const MOST_ITEMS = 6;

async function boardRoom(t: Cleanup, options: RoomOptions = {}): Promise<Room> {
  const room = await openRoom(t, options);
  await room.do(OPERATOR, { kind: 'board.add', board: 'web', name: 'Web site' });
  return room;
}

const dueNow = (room: Room): readonly DueRow[] =>
  withFile(room.file, (database) =>
    database.prepare("SELECT * FROM due WHERE kind = 'workroom' AND at <= ? ORDER BY at, seq").all(room.clock.now()),
  ) as DueRow[];

const timeOf = (room: Room, item: string): unknown =>
  withFile(room.file, (database) =>
    database.prepare('SELECT at FROM due WHERE id = ?').pluck().get(`workroom/${item}`),
  );

const announced = async (room: Room): Promise<readonly string[]> =>
  (await room.journal.slice({ after: 0, limit: 10_000 }))
    .filter(({ kind }) => kind === 'item.overdue' || kind === 'item.stuck')
    .map(({ stream, kind }) => `${stream} ${kind}`);

/** Items whose due row is missing, or later than their next announcement. */
function late(room: Room, settings: WorkroomSettings): readonly string[] {
  const rows = withFile(room.file, (database) =>
    database
      .prepare(
        `SELECT c.data, due.at FROM workroom_catalog c LEFT JOIN due ON due.id = 'workroom/' || substr(c.stream, 6)
        WHERE c.kind = 'item'`,
      )
      .all(),
  ) as { readonly data: string; readonly at: number | null }[];
  return rows.flatMap(({ data, at }) => {
    const item = JSON.parse(data) as Item;
    const next = nextAnnouncement(item, settings);
    return next === undefined || (at !== null && at <= next) ? [] : [`${item.id}: ${at} instead of ${next}`];
  });
}

function commandOf({ between, pick, chance }: Random, now: number): WorkCommand {
  const item = `web-${between(1, MOST_ITEMS)}`;
  const time = chance(0.2) ? null : now + between(-5, 100) * HOUR_MS;
  return pick<WorkCommand>([
    { kind: 'new', board: 'web', title: 'Something' },
    { kind: 'due', item, due: time },
    { kind: 'due', item, due: time },
    { kind: 'block', item, blocker: 'external', reason: 'waits', until: time },
    { kind: 'unblock', item },
    { kind: 'comment', item, text: 'words' },
    { kind: 'edit', item, title: 'Another' },
    { kind: 'cancel', item },
    { kind: 'reopen', item },
  ]);
}

describe('deadlines of items', () => {
  for (const [index, seed] of [1, 2, 3, 4].entries()) {
    const store: JournalStore = STORES[index % STORES.length] ?? 'database';
    it(`are looked at in time over random commands, clocks and settings (store ${store}, seed ${seed})`, async (t) => {
      const random = seeded(seed);
      let settings = SETTINGS;
      const room = await boardRoom(t, { store, settings: () => settings });
      const plan = (): Promise<boolean> => planDues({ core: room.core, reminding: settings, due: () => {} });
      await plan();
      for (let step = 0; step < STEPS; step += 1) {
        if (random.chance(0.1)) room.clock.step(random.between(-30, 60) * HOUR_MS);
        if (random.chance(0.1)) {
          const [stuckHours, remindHours] = [random.pick([0, 1, 24, 72]), random.pick([1, 24])];
          settings = { ...SETTINGS, stuckMs: stuckHours * HOUR_MS, remindMs: remindHours * HOUR_MS };
          await plan();
        }
        room.clock.moveTo(room.clock.now() + random.between(0, 6) * HOUR_MS);
        await Promise.all([
          room.do(OPERATOR, commandOf(random, room.clock.now())),
          ...dueNow(room).map((row) => room.workroom.fire(row)),
        ]);
        assert.deepEqual(late(room, settings), [], `step ${step}`);
      }
      assert.deepEqual(room.verify().faults, []);
      assert.ok((await announced(room)).length > 0);
    });
  }

  it('are planned anew when the settings change, also of items that nobody touches', async (t) => {
    let settings = SETTINGS;
    const room = await boardRoom(t, { settings: () => settings });
    await planDues({ core: room.core, reminding: settings, due: () => {} });
    for (const title of ['One', 'Two']) await room.do(OPERATOR, { kind: 'new', board: 'web', title });
    await room.do(OPERATOR, { kind: 'cancel', item: 'web-2' });
    const madeAt = room.clock.now();
    settings = { ...SETTINGS, stuckMs: HOUR_MS };
    const told: number[] = [];
    await planDues({ core: room.core, reminding: settings, due: (at) => told.push(at) });

    assert.deepEqual([timeOf(room, 'web-1'), timeOf(room, 'web-2')], [madeAt + HOUR_MS, undefined]);
    assert.deepEqual(told, [madeAt + HOUR_MS]);
    room.clock.moveTo(madeAt + HOUR_MS);
    for (const row of dueNow(room)) await room.workroom.fire(row);
    assert.deepEqual(await announced(room), ['item/web-1 item.stuck']);
  });

  it('are planned to the end after a start that died in the middle', async (t) => {
    let settings = SETTINGS;
    const room = await boardRoom(t, { settings: () => settings });
    await planDues({ core: room.core, reminding: settings, due: () => {} });
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One' });
    settings = { ...SETTINGS, stuckMs: HOUR_MS };
    await planDues({ core: room.core, reminding: settings, due: () => {}, isStopped: () => true });
    assert.equal(timeOf(room, 'web-1'), room.clock.now() + SETTINGS.stuckMs);
    await planDues({ core: room.core, reminding: settings, due: () => {} });

    assert.equal(timeOf(room, 'web-1'), room.clock.now() + HOUR_MS);
  });

  it('are planned once more when runs of the former settings have ended', async (t) => {
    let settings = { ...SETTINGS, stuckMs: 0 };
    const room = await boardRoom(t, { settings: () => settings });
    const plan = (hasFormerRuns: boolean) =>
      planDues({ core: room.core, reminding: settings, due: () => {}, hasFormerRuns });
    await plan(false);
    settings = SETTINGS;
    assert.equal(await plan(true), false);
    settings = { ...SETTINGS, stuckMs: 0 };
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'Of a run that began before' });
    settings = SETTINGS;
    assert.equal(await plan(false), true);

    assert.equal(timeOf(room, 'web-1'), room.clock.now() + SETTINGS.stuckMs);
  });

  it('are planned anew when the settings went there and back, and the host died before it had planned', async (t) => {
    let settings = SETTINGS;
    const room = await boardRoom(t, { settings: () => settings });
    const plan = (isStopped = false) =>
      planDues({ core: room.core, reminding: settings, due: () => {}, isStopped: () => isStopped });
    await plan();
    settings = { ...SETTINGS, stuckMs: 0 };
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One' });
    await plan(true);
    settings = SETTINGS;
    await plan();

    assert.equal(timeOf(room, 'web-1'), room.clock.now() + SETTINGS.stuckMs);
  });

  it('that are brought forward while the host looks at the item are not lost', async (t) => {
    const between: { work?: () => void } = {};
    const room = await boardRoom(t, {
      cut: () => {
        between.work?.();
        return undefined;
      },
    });
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One' });
    await room.do(OPERATOR, { kind: 'due', item: 'web-1', due: room.clock.now() + HOUR_MS });
    await room.do(OPERATOR, { kind: 'due', item: 'web-1', due: null });
    room.clock.moveTo(room.clock.now() + HOUR_MS);
    const [row] = dueNow(room);
    assert.ok(row);
    const soon = room.clock.now() + HOUR_MS;
    let looked: Promise<void> | undefined;
    between.work = () => {
      between.work = () => {};
      looked = room.workroom.fire(row); // reads before the command is stored, and is stored behind it
    };
    await room.do(OPERATOR, { kind: 'due', item: 'web-1', due: soon });
    await looked;

    assert.ok(Number(timeOf(room, 'web-1')) <= soon);
  });

  it('of an item that took no command are looked at once it is released', async (t) => {
    const room = await boardRoom(t);
    await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'One' });
    const due = room.clock.now() + HOUR_MS;
    await room.do(OPERATOR, { kind: 'due', item: 'web-1', due });
    withFile(room.file, (database) =>
      database.exec("UPDATE workroom_catalog SET quarantined = 1 WHERE stream = 'item/web-1'"),
    );
    room.clock.moveTo(due);
    for (const row of dueNow(room)) await room.workroom.fire(row);
    assert.equal(timeOf(room, 'web-1'), due + SETTINGS.remindMs);
    await room.do(OPERATOR, { kind: 'release', stream: 'item/web-1', reason: 'looked at' });

    assert.equal(timeOf(room, 'web-1'), due);
  });
});
