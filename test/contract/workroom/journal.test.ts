// The journal of the Workroom in the database: one unit a command, one winner a race, a chain that anybody can check.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Database } from '../../../shared/sqlite.ts';
import type { JournalStore } from '../../../worker/workroom/journal/journal.ts';
import type { Verified } from '../../../worker/workroom/journal/verify.ts';
import { verifyDatabase } from '../../../worker/workroom/journal/verify-database.ts';
import { ofRun } from '../../support/run-length.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import {
  type Cut,
  OPERATOR,
  person,
  type Room,
  type RoomOptions,
  STORES,
  teamRoom as teamRoomOf,
  withFile,
} from '../../support/workroom/room.ts';

/** `npm run exhaustive` changes each byte. */
// Each byte on request, each third one in a short run.
const EVERY = ofRun({ short: 3, long: 1 });

const [ann, bob, cid, eve] = ['ann', 'bob', 'cid', 'eve'].map(person) as [
  ReturnType<typeof person>,
  ReturnType<typeof person>,
  ReturnType<typeof person>,
  ReturnType<typeof person>,
];

/** A day of work: two items, one waits for the other, a review, a comment. */
async function day(room: Room): Promise<void> {
  const accepted = async (...of: Parameters<Room['do']>): Promise<void> => {
    const outcome = await room.do(...of);
    assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome));
  };
  await accepted(ann, { kind: 'new', board: 'web', title: 'Home page', text: 'The new one' });
  await accepted(ann, { kind: 'new', board: 'web', title: 'Release', assign: 'bob' });
  await accepted(bob, {
    kind: 'block',
    item: 'web-2',
    blocker: 'dependency',
    needs: 'web-1',
    reason: 'needs the page',
  });
  await accepted(cid, { kind: 'take', item: 'web-1' });
  await accepted(cid, { kind: 'comment', item: 'web-1', text: 'Half of it' });
  await accepted(cid, { kind: 'submit', item: 'web-1' });
  await accepted(eve, { kind: 'accept', item: 'web-1' });
  await accepted(bob, { kind: 'start', item: 'web-2' });
}

for (const store of STORES) describe(`journal of the Workroom, store ${store}`, () => contract(store));

function contract(store: JournalStore): void {
  const teamRoom = (t: Cleanup, options: RoomOptions = {}): Promise<Room> => teamRoomOf(t, { ...options, store });

  it('holds a day of work, whose chain and catalog verify', async (t) => {
    const room = await teamRoom(t);
    await day(room);
    const { faults, head } = room.verify();
    assert.deepEqual(faults, []);
    assert.equal(head.seq, 20);
    const events = await room.journal.slice({ after: 0, limit: 100, stream: 'item/web-2' });
    const kinds = events.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['item.created', 'item.assigned', 'blocker.added', 'blocker.resolved', 'item.started']);
  });

  it('can be checked by hand with SHA-256 alone', async (t) => {
    const room = await teamRoom(t);
    const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
    let hash = sha(`svc.journal/1\n${room.core.projectId}`);
    for (const row of await room.journal.slice({ after: 0, limit: 100 })) {
      const { actor, at, cause, data, id, kind, stream, version } = row;
      const given = { actor, at, cause, data: JSON.parse(data) as unknown, id, kind, stream, v: 1, version };
      hash = sha(`svc.journal/1\n${hash}\n${row.seq}\n${sha(JSON.stringify(given))}`);
      assert.equal(row.hash, hash);
    }
  });

  it('lets one of fifty takers win', async (t) => {
    const room = await teamRoom(t);
    const takers = Array.from({ length: 50 }, (_, index) => `m${index}`);
    for (const member of takers) {
      await room.do(OPERATOR, { kind: 'member.add', member });
      await room.do(OPERATOR, { kind: 'role.grant', board: 'web', member, role: 'worker' });
    }
    await room.do(ann, { kind: 'new', board: 'web', title: 'One' });
    const outcomes = await Promise.all(
      takers.map((member) => room.do(person(member), { kind: 'take', item: 'web-1' })),
    );
    assert.equal(outcomes.filter(({ kind }) => kind === 'accepted').length, 1);
    for (const outcome of outcomes) if (outcome.kind === 'refused') assert.equal(outcome.code, 'wrong_state');
    assert.deepEqual(room.verify().faults, []);
  });

  it('answers a command id that comes again as the first time, and stores nothing', async (t) => {
    const room = await teamRoom(t);
    const first = await room.do(ann, { kind: 'new', board: 'web', title: 'One' }, 'same');
    const before = room.verify().head;
    assert.deepEqual(await room.do(ann, { kind: 'new', board: 'web', title: 'One' }, 'same'), first);
    assert.deepEqual(room.verify().head, before);
  });

  for (const where of ['before', 'after'] as const)
    it(`makes one item of a command that is cut ${where} its commit and comes again`, async (t) => {
      let cut: Cut | undefined;
      const room = await teamRoom(t, { cut: () => cut });
      cut = where;
      const command = { kind: 'new', board: 'web', title: 'One' } as const;
      await assert.rejects(room.do(ann, command, 'once'), /cut/);
      cut = undefined;
      const outcome = await room.do(ann, command, 'once');
      assert.deepEqual(outcome, { kind: 'accepted', stream: 'item/web-1', item: 'web-1', version: 1, state: 'open' });
      assert.deepEqual([...(await readItems(room)).keys()], ['web-1']);
      assert.deepEqual(room.verify().faults, []);
    });

  it('never leaves an item waiting for one that is done in the same moment', async (t) => {
    const room = await teamRoom(t);
    for (let round = 0; round < 20; round += 1) {
      await room.do(ann, { kind: 'new', board: 'web', title: 'needed', assign: 'bob' });
      await room.do(ann, { kind: 'new', board: 'web', title: 'waits' });
      const [needed, waits] = [`web-${2 * round + 1}`, `web-${2 * round + 2}`];
      await room.do(bob, { kind: 'start', item: needed });
      await room.do(bob, { kind: 'submit', item: needed });
      await Promise.all([
        room.do(eve, { kind: 'accept', item: needed }),
        room.do(cid, { kind: 'block', item: waits, blocker: 'dependency', needs: needed, reason: 'after it' }),
      ]);
      const item = (await readItems(room)).get(waits);
      assert.equal(item?.state, 'open', `${waits} in round ${round}`);
    }
  });

  it('refuses a circle that two commands would close together', async (t) => {
    const room = await teamRoom(t);
    for (let round = 0; round < 10; round += 1) {
      await room.do(ann, { kind: 'new', board: 'web', title: 'a' });
      await room.do(ann, { kind: 'new', board: 'web', title: 'b' });
      const [a, b] = [`web-${2 * round + 1}`, `web-${2 * round + 2}`];
      const block = { kind: 'block', blocker: 'dependency', reason: 'circle' } as const;
      const outcomes = await Promise.all([
        room.do(bob, { ...block, item: a, needs: b }),
        room.do(cid, { ...block, item: b, needs: a }),
      ]);
      assert.deepEqual(outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.code : outcome.kind)).sort(), [
        'accepted',
        'dependency_cycle',
      ]);
    }
  });

  it('ends an item although one that waits for it is damaged, and leaves the damaged one as it is', async (t) => {
    const room = await teamRoom(t);
    await room.do(ann, { kind: 'new', board: 'web', title: 'needed', assign: 'bob' });
    await room.do(ann, { kind: 'new', board: 'web', title: 'waits' });
    await room.do(cid, { kind: 'block', item: 'web-2', blocker: 'dependency', needs: 'web-1', reason: 'after it' });
    await room.do(bob, { kind: 'start', item: 'web-1' });
    await room.do(bob, { kind: 'submit', item: 'web-1' });
    withFile(room.file, (database) =>
      database.exec("UPDATE workroom_catalog SET quarantined = 1 WHERE stream = 'item/web-2'"),
    );
    const outcome = await room.do(eve, { kind: 'accept', item: 'web-1' });
    assert.equal(outcome.kind, 'accepted');
    assert.equal((await readItems(room)).get('web-2')?.state, 'blocked');
  });
}

describe('journal of the Workroom in the database', () => {
  it('does not change and does not shrink by SQL', async (t) => {
    const room = await teamRoomOf(t);
    withFile(room.file, (database) => {
      database.pragma('recursive_triggers = ON'); // as the host's connection has it: a replacement fires the trigger of the deletion
      assert.throws(() => database.exec('DELETE FROM workroom_events WHERE seq = 1'), /only grows/);
      assert.throws(() => database.exec("UPDATE workroom_events SET actor = 'x' WHERE seq = 1"), /does not change/);
      assert.throws(
        () => database.exec('INSERT OR REPLACE INTO workroom_events SELECT * FROM workroom_events WHERE seq = 1'),
        /only grows/,
      );
    });
  });
});

async function readItems(room: Room): Promise<Map<string, { readonly state: string }>> {
  return withFile(room.file, (database) => {
    const rows = database.prepare("SELECT stream, state FROM workroom_catalog WHERE kind = 'item'").all() as {
      stream: string;
      state: string;
    }[];
    return new Map(rows.map(({ stream, state }) => [stream.slice('item/'.length), { state }]));
  });
}

describe('tampering with the journal', () => {
  /** Verifies a copy of a day's work after the change. */
  async function tampered(t: Cleanup, change: (database: Database) => void): Promise<Verified> {
    const room = await teamRoomOf(t);
    await day(room);
    withFile(room.file, (database) => database.pragma('wal_checkpoint(TRUNCATE)'));
    const copy = `${room.file}-copy`;
    copyFileSync(room.file, copy);
    return withFile(copy, (database) => {
      database.pragma('recursive_triggers = OFF');
      database.exec('DROP TRIGGER workroom_events_kept; DROP TRIGGER workroom_events_unchanged;');
      change(database);
      return verifyDatabase(database);
    });
  }
  const found = ({ faults: [first] }: Verified): unknown => first && [first.fault, first.seq];

  const COLUMNS = {
    id: "'other/1'",
    stream: "'item/web-9'",
    version: '7',
    kind: "'item.edited'",
    at: 'at + 1',
    actor: "'member:eve'",
    cause: "'x'",
    data: "replace(data, '\"', '\"x')",
    digest: "'00'",
    hash: "'00'",
  };
  for (const [column, value] of Object.entries(COLUMNS))
    it(`finds another ${column}`, async (t) => {
      const verified = await tampered(t, (database) =>
        database.exec(`UPDATE workroom_events SET ${column} = ${value} WHERE seq = 12`),
      );
      assert.deepEqual(found(verified), ['changed', 12]);
    });

  it('finds a single byte that was changed in an event', async (t) => {
    const room = await teamRoomOf(t);
    await day(room);
    withFile(room.file, (database) => {
      const columns = ['data', 'texts', 'actor', 'kind', 'digest', 'hash', 'id', 'stream'];
      database.exec('DROP TRIGGER workroom_events_unchanged');
      const update = (column: string, value: unknown): void => {
        database.prepare(`UPDATE workroom_events SET ${column} = ? WHERE seq = 10`).run(value);
      };
      for (const column of columns) {
        const value = String(database.prepare(`SELECT ${column} FROM workroom_events WHERE seq = 10`).pluck().get());
        for (let at = 0; at < value.length; at += EVERY) {
          const other = value[at] === 'a' ? 'b' : 'a';
          update(column, value.slice(0, at) + other + value.slice(at + 1));
          const [first] = verifyDatabase(database).faults;
          assert.equal(first?.seq, 10, `${column}, character ${at}`);
        }
        update(column, value);
      }
      assert.deepEqual(verifyDatabase(database).faults, []);
    });
  });

  it('finds an event that was removed, a tail that was cut, and two that changed places', async (t) => {
    const removed = await tampered(t, (database) => database.exec('DELETE FROM workroom_events WHERE seq = 12'));
    assert.deepEqual(found(removed), ['missing', 12]);
    const cut = await tampered(t, (database) => database.exec('DELETE FROM workroom_events WHERE seq > 15'));
    assert.deepEqual(found(cut), ['truncated', 16]);
    const swapped = await tampered(t, (database) =>
      database.exec(`UPDATE workroom_events SET seq = -1 WHERE seq = 12;
        UPDATE workroom_events SET seq = 12 WHERE seq = 13; UPDATE workroom_events SET seq = 13 WHERE seq = -1`),
    );
    assert.deepEqual(found(swapped), ['reordered', 12]);
  });

  it('finds a journal of another project', async (t) => {
    const foreign = await tampered(t, (database) =>
      database.exec("UPDATE meta SET value = 'another' WHERE key = 'project_id'"),
    );
    assert.deepEqual(found(foreign), ['foreign', 1]);
  });

  it('finds words that were changed or taken away', async (t) => {
    const changed = await tampered(t, (database) =>
      database.exec("UPDATE workroom_events SET texts = replace(texts, 'Home', 'Hone') WHERE texts LIKE '%Home%'"),
    );
    assert.deepEqual(found(changed), ['text_changed', 10]);
    // The digest is of salt and text in a row: words that became part of the salt would leave it as it is.
    const moved = await tampered(t, (database) =>
      database.exec(
        `UPDATE workroom_events SET texts = replace(texts, '","text":"Home', 'Ho","text":"me') WHERE texts LIKE '%"text":"Home%'`,
      ),
    );
    assert.deepEqual(found(moved), ['text_changed', 10]);
    const missing = await tampered(t, (database) =>
      database.exec("UPDATE workroom_events SET texts = NULL WHERE texts LIKE '%Home%'"),
    );
    assert.deepEqual(found(missing), ['text_missing', 10]);
  });

  it('finds a catalog that is not the fold, in each of its columns', async (t) => {
    const changes = [
      "status = 'done'",
      "state = 'review'",
      "assignee = 'eve'",
      'version = version + 1',
      'applied_seq = 1',
      'updated_at = updated_at + 1',
      "board = 'other'",
      "data = replace(data, 'Release', 'Rebase')",
    ];
    for (const change of changes) {
      const { faults } = await tampered(t, (database) =>
        database.exec(`UPDATE workroom_catalog SET ${change} WHERE stream = 'item/web-2'`),
      );
      assert.deepEqual(faults, [{ fault: 'catalog_differs', seq: 0, stream: 'item/web-2' }], change);
    }
    const gone = await tampered(t, (database) =>
      database.exec("DELETE FROM workroom_catalog WHERE stream = 'item/web-2'"),
    );
    assert.deepEqual(gone.faults, [{ fault: 'catalog_differs', seq: 0, stream: 'item/web-2' }]);
  });

  it('tells a history that was written anew by a head that somebody noted', async (t) => {
    const room = await teamRoomOf(t);
    const noted = room.verify().head;
    const other = await teamRoomOf(t);
    await day(other);
    const verified = withFile(other.file, (database) => verifyDatabase(database, noted));
    assert.deepEqual(found(verified), ['foreign', noted.seq]);
    await day(room);
    assert.deepEqual(withFile(room.file, (database) => verifyDatabase(database, noted)).faults, []);
  });
});
