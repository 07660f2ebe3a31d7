// How the writer's groups are formed: what one turn of the loop hands in together goes over early when it is much, and always in order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner } from '../../../worker/database/writer.ts';

/** Notes the names of each group and answers when it is let go. */
class HeldRunner implements GroupRunner {
  readonly groups: string[][] = [];
  #answers: (() => void)[] = [];

  async open(): Promise<void> {}
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
