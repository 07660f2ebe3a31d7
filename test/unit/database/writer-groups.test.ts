// How the writer's groups are formed: what one turn of the loop hands in together goes over early when it is much, and always in order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner } from '../../../worker/database/writer.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

/** Notes the names of each group and answers when it is let go. */
class HeldRunner implements GroupRunner {
  readonly groups: string[][] = [];
  #answers: (() => void)[] = [];

  async open(): Promise<void> {}
  async pin(): Promise<void> {}
  async close(): Promise<void> {}

  run(units: readonly Unit[]): ReturnType<GroupRunner['run']> {
    this.groups.push(units.map(({ name }) => name));
    return new Promise((resolve) => {
      this.#answers.push(() =>
        resolve({ answers: units.map(() => ({ ok: true, results: [] })) as never, head: this.groups.length }),
      );
    });
  }

  letGo(): void {
    for (const answer of this.#answers.splice(0)) answer();
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `u${index}`);
const commitAll = (writer: GroupingWriter, wanted: readonly string[]): Promise<unknown> =>
  Promise.all(wanted.map((name) => writer.commit({ name, statements: [] })));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the groups of the writer', () => {
  it('hands much of one turn over before the turn ends, in order, and leaves none behind', async () => {
    const runner = new HeldRunner();
    const wanted = names(200);
    const done = commitAll(new GroupingWriter(runner), wanted);
    assert.ok(runner.groups.length > 1, 'nothing went over within the turn');
    assert.ok(runner.groups.flat().length < wanted.length, 'every unit went alone or at once');
    while (runner.groups.flat().length < wanted.length) {
      runner.letGo();
      await turn();
    }
    runner.letGo();
    await done;
    assert.deepEqual(runner.groups.flat(), wanted);
  });

  it('answers a large one over several turns, in order', async () => {
    const runner = new HeldRunner();
    const writer = new GroupingWriter(runner);
    const wanted = names(600);
    const answered: string[] = [];
    const done = Promise.all(
      wanted.map((name) => writer.commit({ name, statements: [] }).then(() => answered.push(name))),
    );
    const ofTurns: number[] = [];
    while (answered.length < wanted.length) {
      const before = answered.length;
      runner.letGo();
      await turn();
      ofTurns.push(answered.length - before);
    }
    await done;
    assert.ok(Math.max(...runner.groups.map(({ length }) => length)) > 400);
    assert.ok(Math.max(...ofTurns) <= 128, ofTurns.join(' '));
    assert.deepEqual(answered, wanted);
  });

  it('keeps few of one turn together', async () => {
    const runner = new HeldRunner();
    const done = commitAll(new GroupingWriter(runner), names(8));
    assert.deepEqual(runner.groups, []);
    await turn();
    assert.deepEqual(runner.groups, [names(8)]);
    runner.letGo();
    await done;
  });
});

describe('a hold of the writer', () => {
  it('begins once no group is under way, and hands none over until it ends', async () => {
    const runner = new HeldRunner();
    const writer = new GroupingWriter(runner);
    const order: string[] = [];
    const before = writer.commit({ name: 'before', statements: [] }).then(() => order.push('before'));
    await turn();
    let end = (): void => {};
    const held = writer.hold(() => {
      order.push('held');
      return new Promise<void>((resolve) => (end = resolve));
    });
    await turn();
    const after = commitAll(writer, names(200)).then(() => order.push('after'));
    await turn();
    assert.deepEqual(order, []);
    runner.letGo();
    await before;
    await turn();
    assert.deepEqual([order, runner.groups], [['before', 'held'], [['before']]]);
    end();
    await held;
    while (runner.groups.flat().length < 201) {
      await turn();
      runner.letGo();
    }
    await after;
    assert.deepEqual(runner.groups.flat(), ['before', ...names(200)]);
  });

  it('is given up after some seconds, also while it waits for a group, and tells its work', async () => {
    const runner = new HeldRunner();
    const clock = new ManualClock(0);
    const writer = new GroupingWriter(runner, {}, clock);
    const signals: AbortSignal[] = [];
    const hanging = writer.hold((signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const next = writer.hold(async () => 'the next');
    const unit = writer.commit({ name: 'queued', statements: [] });
    await turn();
    clock.moveTo(5_000);
    await assert.rejects(hanging, { code: 'timeout' });
    assert.equal(signals[0]?.aborted, true);
    assert.equal(await next, 'the next');
    await turn();

    const waiting = writer.hold(async () => assert.fail('the group is under way'));
    await turn();
    clock.moveTo(10_000);
    await assert.rejects(waiting, { code: 'timeout' });
    runner.letGo();
    await unit;
    assert.deepEqual(runner.groups, [['queued']]);
  });
});
