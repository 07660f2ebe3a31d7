// A loop that is busy is told from one that hangs: by the progress that it makes between its timers.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { madeProgress } from '../../../shared/process/loop-progress.ts';
import { BUSY_LIMITS, HEARTBEAT_MS, Heartbeat } from '../../../worker/process/heartbeat.ts';

const WATCHDOG_MS = 15_000;

function heart(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  let beats = 0;
  const heartbeat = new Heartbeat({ beat: () => (beats += 1), watchdogMs: () => WATCHDOG_MS, now: () => now });
  t.after(() => heartbeat.stop());
  return {
    heartbeat,
    beats: () => beats,
    /** The loop comes to its timers each second. */
    idle: (seconds: number) => {
      for (let n = 0; n < seconds; n += 1) {
        now += HEARTBEAT_MS;
        t.mock.timers.tick(HEARTBEAT_MS);
      }
    },
    /** It does one piece of work after the other, and comes to no timer. */
    busy: (seconds: number) => {
      for (let n = 0; n < seconds * 100; n += 1) {
        now += 10;
        madeProgress(now);
      }
    },
  };
}

describe('the heartbeat', () => {
  it('comes from the timer alone where that is in time, whatever is done meanwhile', (t) => {
    const { idle, busy, beats } = heart(t);
    idle(3);
    busy(1);
    assert.equal(beats(), 3);
  });

  it('comes from progress where the timer is late, often enough for the watchdog', (t) => {
    const { busy, beats } = heart(t);
    busy(30);
    assert.ok(beats() >= 15, `${beats()} in 30 s`);
  });

  it('stays away where a single piece of work does not end', (t) => {
    const { beats } = heart(t);
    madeProgress(10);
    assert.equal(beats(), 0);
  });

  it('does not come from progress for ever', (t) => {
    const { busy, idle, beats } = heart(t);
    busy((BUSY_LIMITS * WATCHDOG_MS) / 1_000);
    const atLimit = beats();
    busy(60);
    assert.equal(beats(), atLimit, 'being busy excused for longer than its limit');

    idle(1);
    busy(10);
    assert.ok(beats() > atLimit + 2, 'a timer that came begins anew');
  });

  it('is nobody’s once it was stopped', (t) => {
    const { heartbeat, busy, beats } = heart(t);
    heartbeat.stop();
    busy(10);
    assert.equal(beats(), 0);
  });
});
