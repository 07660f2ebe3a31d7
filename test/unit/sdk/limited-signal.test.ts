import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { describe, it } from 'node:test';
import { limitedSignal, withLimit } from '../../../worker/sdk/platform/limited-signal.ts';

const HOUR_MS = 3_600_000;

describe('the signal of a call to a platform', () => {
  it('ends with the life of the account, for its reason', () => {
    const life = new AbortController();
    const signals = [limitedSignal(life.signal, HOUR_MS), limitedSignal(life.signal, HOUR_MS)];
    const reason = new Error('disabled');

    life.abort(reason);

    assert.deepEqual(
      [...signals, limitedSignal(life.signal, HOUR_MS)].map((signal) => signal.reason as unknown),
      [reason, reason, reason],
    );
  });

  it('ends after its time (LIMITED-SIGNAL-1), and leaves nothing with the life', async () => {
    const life = new AbortController();
    const signals = Array.from({ length: 1_000 }, () => limitedSignal(life.signal, 1));

    await Promise.all(signals.filter(({ aborted }) => !aborted).map((signal) => once(signal, 'abort')));

    assert.ok(signals.every(({ reason }) => (reason as Error).name === 'TimeoutError'));
    assert.equal(getEventListeners(life.signal, 'abort').length, 1);
    const dependants = Object.getOwnPropertySymbols(life.signal).find((key) => key.description === 'kDependantSignals');
    const kept =
      dependants === undefined ? undefined : (Reflect.get(life.signal, dependants) as Set<unknown> | undefined);
    assert.equal(kept?.size ?? 0, 0);
  });

  it("ends with the call's own signal, and leaves the others alone", () => {
    const life = new AbortController();
    const own = new AbortController();
    const other = limitedSignal(life.signal, HOUR_MS);
    const signal = limitedSignal(life.signal, HOUR_MS, own.signal);
    const reason = new Error('given up');

    own.abort(reason);

    assert.equal(signal.reason, reason);
    assert.equal(limitedSignal(life.signal, HOUR_MS, own.signal).reason, reason);
    assert.ok(!other.aborted && !life.signal.aborted);
  });

  it('is over with a call that has its answer: neither its time nor the life of the account ends it any more', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const life = new AbortController();
    const signals: AbortSignal[] = [];
    const call = async (signal: AbortSignal): Promise<string> => {
      signals.push(signal);
      return 'answer';
    };

    const answer = await withLimit(life.signal, HOUR_MS, call);
    const failing = async (signal: AbortSignal): Promise<never> => {
      throw new Error(await call(signal));
    };
    await assert.rejects(withLimit(life.signal, HOUR_MS, failing));
    t.mock.timers.tick(HOUR_MS);
    life.abort();

    assert.equal(answer, 'answer');
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false, false],
    );
  });

  it('ends a call that has no answer after its time, or with the life of the account', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const life = new AbortController();
    const reason = new Error('disabled');
    const asLongAs = async (signal: AbortSignal): Promise<never> => {
      await once(signal, 'abort');
      throw signal.reason as Error;
    };

    const [late, ended] = [withLimit(life.signal, 10, asLongAs), withLimit(life.signal, HOUR_MS, asLongAs)];
    t.mock.timers.tick(10);
    life.abort(reason);

    await assert.rejects(late, { name: 'TimeoutError' });
    await assert.rejects(ended, reason);
  });
});
