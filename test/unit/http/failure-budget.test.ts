// How many wrong tokens a source may try.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FailureBudget } from '../../../worker/http/request/failure-budget.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

it('is spent for a minute of the wall clock, and begins anew when that is set back', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOON });
  const budget = new FailureBudget({ limit: 2 });
  t.after(() => budget.close());
  const spend = async (): Promise<number | undefined> => budget.spend('192.0.2.7');

  const within = [await spend(), await spend()];
  const over = await spend();
  t.mock.timers.setTime(NOON - 3_600_000);
  const back = [await spend(), await spend()];
  const overAgain = await spend();

  assert.deepEqual([within, over], [[undefined, undefined], 60_000]);
  assert.deepEqual([back, overAgain], [[undefined, undefined], 60_000]);
});
