// Random histories before and after a checkpoint, in real databases: after the restore each message is handled once and each reply goes out once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Database } from '../../../shared/sqlite.ts';
import { withoutCarry } from '../../../worker/recovery/restore/carry.ts';
import { changeState } from '../../../worker/recovery/restore/prepare.ts';
import { stateOf } from '../../../worker/recovery/restore/state-reader.ts';
import { Host, type Step, World } from '../../support/recovery/carry-world.ts';
import { ofRun } from '../../support/run-length.ts';

const HISTORY_STEP = fc.tuple(
  fc.constantFrom<Step>(
    'deliver',
    'deliver',
    'deliver',
    'tell a subscriber',
    'tell a subscriber',
    'begin',
    'first handler',
    'handle',
    'handle',
    'give up',
    'replay',
    'send',
    'begin to send',
    'fire',
    'forget an item',
    'forget a send',
  ),
  fc.nat(7),
);
const HISTORY = fc.array(HISTORY_STEP, { maxLength: 40 });
type History = readonly (readonly [Step, number])[];

const apply = (database: Database) => (statement: { readonly sql: string; readonly parameters: readonly unknown[] }) =>
  void database.prepare(statement.sql).run(...statement.parameters);

/** The state of `source` replaces that of `replaced`, as a restore and an undo do it. */
function bring(world: World, source: Buffer, replaced: Host): Host {
  const restored = new Host(world, source);
  world.ids += 1;
  const entry = { purpose: 'restore', source: 'c1', sourceId: 'c1', replaced: `s${world.ids}`, lost: 0 } as const;
  changeState(restored.database, { replaced: stateOf(replaced.database), carry: true, open: 'handle', now: 2, entry });
  return restored;
}

/** A host, a checkpoint, more of its life, and the restored host. */
function restoredAfter(before: History, since: History, carry: boolean) {
  const world = new World();
  const host = new Host(world);
  for (const [step, pick] of before) host.step(step, pick);
  const copy = host.database.serialize();
  for (const [step, pick] of since) host.step(step, pick);
  if (carry) return { world, host, restored: bring(world, copy, host) };
  const restored = new Host(world, copy);
  withoutCarry('handle', 2).forEach(apply(restored.database));
  return { world, host, restored };
}

type Act = 'checkpoint' | 'restore' | 'undo' | readonly [Step, number];

/** A host with checkpoints, restores of any of them, and undos of the restore before. */
function lifeOf(acts: readonly (readonly [Act, number])[]) {
  const world = new World();
  let host = new Host(world);
  const checkpoints: Buffer[] = [];
  let replaced: Buffer | undefined;
  for (const [act, pick] of acts) {
    if (act === 'checkpoint') checkpoints.push(host.database.serialize());
    else if (act === 'restore' || act === 'undo') {
      const source = act === 'undo' ? replaced : checkpoints[pick % Math.max(1, checkpoints.length)];
      if (source === undefined) continue;
      replaced = host.database.serialize();
      host = bring(world, source, host);
    } else host.step(...act);
  }
  return { world, host };
}

/** Everything is brought again, and then all that is left is done. */
function finish(world: World, host: Host): void {
  for (const delivery of world.delivered) if (!world.forgotten.has(delivery)) host.deliver(delivery);
  host.toTheEnd();
}

function faults({ delivered, promised, runs, calls, keys, givenUp }: World): readonly string[] {
  const twice = [...runs, ...calls].filter(([, count]) => count > 1).map(([what]) => `${what} twice`);
  const lost = [...delivered, ...promised].filter((one) => !runs.has(`${one}/second`) && !givenUp.has(one));
  const unsent = [...keys].filter((key) => !calls.has(key));
  return [...twice, ...lost.map((one) => `${one} lost`), ...unsent.map((key) => `${key} unsent`)];
}

describe('carry', () => {
  it('handles and sends nothing twice and loses nothing, whatever happened before and after the checkpoint', () => {
    fc.assert(
      fc.property(HISTORY, HISTORY, (before, since) => {
        const { world, restored } = restoredAfter(before, since, true);
        finish(world, restored);
        assert.deepEqual(faults(world), []);
      }),
      { numRuns: ofRun({ short: 25, long: 80 }) },
    );
  });

  it('holds for an undo as well: the restored host lived on, and its outcomes come along', () => {
    fc.assert(
      fc.property(HISTORY, HISTORY, HISTORY, (before, since, after) => {
        const { world, host, restored } = restoredAfter(before, since, true);
        for (const [step, pick] of after) restored.step(step, pick);
        finish(world, bring(world, host.database.serialize(), restored));
        assert.deepEqual(faults(world), []);
      }),
      { numRuns: ofRun({ short: 20, long: 60 }) },
    );
  });

  it('holds for any chain of checkpoints, restores and undos, whatever retention has removed meanwhile', () => {
    // An operator who replays a dead letter means it, whatever became of it in a state that was replaced.
    const steps = HISTORY_STEP.filter(([step]) => step !== 'replay');
    const act = fc.oneof(
      { arbitrary: steps, weight: 6 },
      { arbitrary: fc.constantFrom<Act>('checkpoint', 'restore', 'undo'), weight: 1 },
    );
    const acts = fc.array(fc.tuple(act, fc.nat(7)), { minLength: 10, maxLength: 80 });
    fc.assert(
      fc.property(acts, (life) => {
        const { world, host } = lifeOf(life);
        finish(world, host);
        assert.deepEqual(faults(world), []);
      }),
      { numRuns: ofRun({ short: 25, long: 80 }) },
    );
  });

  it('keeps a task that was set since the restore when the restore is undone', () => {
    const { world, host } = lifeOf([
      ['checkpoint', 0],
      ['restore', 0],
      [['deliver', 0], 0],
      [['handle', 0], 0],
      ['undo', 0],
    ]);
    host.toTheEnd();
    assert.equal(world.runs.get('task/d0/second'), 1);
  });

  it('hands a subscriber the events since a restore, under numbers that were given before it too', () => {
    const { world, host } = lifeOf([
      ['checkpoint', 0],
      [['tell a subscriber', 0], 0],
      [['handle', 0], 0],
      ['restore', 0],
      [['tell a subscriber', 0], 0],
    ]);
    host.toTheEnd();
    assert.deepEqual(
      [0, 1].map((event) => world.runs.get(`event ${event}/second`)),
      [1, 1],
    );
  });

  it('ends work that was handled since the restore, and removed by retention, when the restore is undone', () => {
    const { world, host } = lifeOf([
      ['checkpoint', 0],
      [['deliver', 0], 0],
      ['restore', 0],
      [['handle', 0], 0],
      [['forget an item', 0], 0],
      ['undo', 0],
    ]);
    host.toTheEnd();
    assert.equal(world.runs.get('d0/second'), 1);
  });

  it('ends work that ended before an undo, and was removed by retention, when the checkpoint is restored again', () => {
    const { world, host } = lifeOf([
      [['deliver', 0], 0],
      ['checkpoint', 0],
      [['handle', 0], 0],
      [['forget an item', 0], 0],
      ['restore', 0],
      ['undo', 0],
      ['restore', 0],
    ]);
    host.toTheEnd();
    assert.equal(world.runs.get('d0/second'), 1);
  });

  it('is what holds it: without, the same histories handle and send twice', () => {
    const found = fc.check(
      fc.property(HISTORY, HISTORY, (before, since) => {
        const { world, restored } = restoredAfter(before, since, false);
        finish(world, restored);
        return faults(world).length === 0;
      }),
      { numRuns: ofRun({ short: 25, long: 80 }) },
    );
    assert.equal(found.failed, true);
  });
});
