// What runs and what is missed, over random backlogs: each due time that the ledger does not know has one run or is in one range.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Missed } from '../../../shared/jobs/job.ts';
import { type Backlog, planDues } from '../../../worker/jobs/missed.ts';
import { seeded } from '../../kits/crash/kit/random.ts';

const SEEDS = 400;
const POLICIES: readonly Missed[] = ['skip', 'run_once', 'run_all'];

const backlog = (of: Partial<Backlog> & Pick<Backlog, 'dues'>): Backlog => ({
  isKnown: () => false,
  isLate: () => true,
  missed: 'run_once',
  windowFrom: 0,
  ...of,
});

describe('the plan of due times', () => {
  it('runs the newest late one in the window, and has one range for the others', () => {
    assert.deepEqual(planDues(backlog({ dues: [10, 20, 30] })), [
      { kind: 'missed', due: 10, until: 20, count: 2 },
      { kind: 'run', due: 30 },
    ]);
    assert.deepEqual(planDues(backlog({ dues: [10, 20, 30], windowFrom: 31 })), [
      { kind: 'missed', due: 10, until: 30, count: 3 },
    ]);
    assert.deepEqual(planDues(backlog({ dues: [10, 20, 30], missed: 'skip' })), [
      { kind: 'missed', due: 10, until: 30, count: 3 },
    ]);
  });

  it('runs all in the window, oldest first, at most the newest hundred', () => {
    const dues = Array.from({ length: 120 }, (_, index) => index + 1);
    const steps = planDues(backlog({ dues, missed: 'run_all', windowFrom: 10 }));

    assert.deepEqual(steps[0], { kind: 'missed', due: 1, until: 20, count: 20 });
    assert.deepEqual(
      steps.slice(1).map(({ due }) => due),
      dues.slice(20),
    );
  });

  it('runs no late one beside one in time', () => {
    const steps = planDues(backlog({ dues: [10, 20, 30], isLate: (due) => due < 30 }));

    assert.deepEqual(steps, [
      { kind: 'missed', due: 10, until: 20, count: 2 },
      { kind: 'run', due: 30 },
    ]);
  });

  it('begins no range at a due time that has run, and holds none in it', () => {
    const steps = planDues(
      backlog({ dues: [10, 20, 30, 40, 50], isKnown: (due) => due === 10 || due === 30, missed: 'skip' }),
    );

    assert.deepEqual(steps, [
      { kind: 'missed', due: 20, until: 20, count: 1 },
      { kind: 'missed', due: 40, until: 50, count: 2 },
    ]);
  });

  it('reaches over due times that are too many to list', () => {
    const steps = planDues(
      backlog({ dues: [10, 20, 900, 910, 2_000], hole: { after: 20, before: 2_000 }, isKnown: (due) => due === 900 }),
    );

    assert.deepEqual(steps, [
      { kind: 'missed', due: 10, until: 899, count: 2 },
      { kind: 'missed', due: 910, until: 1_999, count: 1 },
      { kind: 'run', due: 2_000 },
    ]);
  });

  it(`leaves no due time out and takes none twice (seeds 1 to ${SEEDS})`, () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { between } = seeded(seed);
      const dues = Array.from({ length: between(0, 12) }, (_, index) => (index + 1) * 10);
      const known = new Set(dues.filter(() => between(0, 3) === 0));
      const lateUntil = between(0, 130);
      const steps = planDues({
        dues,
        isKnown: (due) => known.has(due),
        isLate: (due) => due <= lateUntil,
        missed: POLICIES[between(0, 2)] ?? 'skip',
        windowFrom: between(0, 130),
      });
      const times = (due: number): number =>
        steps.filter((step) => (step.kind === 'run' ? step.due === due : step.due <= due && due <= step.until)).length;

      assert.deepEqual(
        dues.filter((due) => times(due) !== (known.has(due) ? 0 : 1)),
        [],
        `seed ${seed}`,
      );
      assert.deepEqual(
        steps.map(({ due }) => due),
        steps.map(({ due }) => due).toSorted((a, b) => a - b),
        `seed ${seed}`,
      );
      const missed = steps.flatMap((step) => (step.kind === 'missed' ? [step.count] : []));
      const runs = steps.length - missed.length;
      assert.equal(runs + missed.reduce((sum, count) => sum + count, 0), dues.length - known.size, `seed ${seed}`);
    }
  });
});
