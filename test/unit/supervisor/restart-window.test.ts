// What the machine of the supervisor counts with: what the end of a worker means, and how many starts fit in a window.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countedExit, exitReason } from '../../../supervisor/machine/exit-reason.ts';
import {
  crashDelay,
  DEFAULT_LIMITS,
  EMPTY_WINDOW,
  type RestartWindow,
  recordCrash,
  recordStart,
  roomAt,
  startsLeft,
} from '../../../supervisor/machine/restart-window.ts';

describe('exitReason', () => {
  it('takes 51 and 75 for requests only of a worker that had been up (EXIT-2)', () => {
    const reasons = [0, 130, 51, 75, 78, 1].map((code) => [
      exitReason({ code, signal: null }, false),
      exitReason({ code, signal: null }, true),
    ]);

    assert.deepEqual(reasons, [
      ['stopped', 'stopped'],
      ['stopped', 'stopped'],
      ['crashed', 'restart_requested'],
      ['crashed', 'restart_required'],
      ['config', 'config'],
      ['crashed', 'crashed'],
    ]);
  });
});

describe('countedExit', () => {
  it('counts an end that was asked for as such, though it took a kill, or SIGTERM came before anybody listened (EXIT-4)', () => {
    const killed = { code: null, signal: 'SIGKILL' };
    const early = { code: null, signal: 'SIGTERM' };
    const ends = [
      countedExit(killed, 0, true),
      countedExit(killed, 51, true),
      countedExit(early, 0, false),
      countedExit(killed, 0, false),
      countedExit({ code: null, signal: 'SIGSEGV' }, 51, false),
      countedExit({ code: 1, signal: null }, 0, false),
      countedExit(killed, undefined, true),
      countedExit(early, undefined, false),
    ];

    assert.deepEqual(
      ends.map((exit) => exitReason(exit, true)),
      ['stopped', 'restart_requested', 'stopped', ...Array(5).fill('crashed')],
    );
  });
});

describe('the restart window', () => {
  it('forgets a start exactly when it is the span old (WINDOW-1)', () => {
    const window = recordStart(EMPTY_WINDOW, 0);

    assert.equal(startsLeft(window, DEFAULT_LIMITS.spanMs - 1, DEFAULT_LIMITS), 4);
    assert.equal(startsLeft(window, DEFAULT_LIMITS.spanMs, DEFAULT_LIMITS), 5);
  });

  it('knows as many starts as a longer window or a larger limit may ask for', () => {
    const short = { ...DEFAULT_LIMITS, spanMs: 1_000 };
    const window = [0, 2_000, 4_000, 6_000].reduce<RestartWindow>(
      (starts, at) => recordStart(starts, at),
      EMPTY_WINDOW,
    );

    assert.deepEqual([startsLeft(window, 6_000, short), startsLeft(window, 6_000, DEFAULT_LIMITS)], [4, 1]);
    const many = Array.from({ length: 1_000 }, (_, at) => at).reduce((starts, at) => recordStart(starts, at), window);
    assert.deepEqual([many.starts.length, many.starts.at(-1)], [100, 999]);
  });

  it('has room again when the oldest start leaves', () => {
    const window = { starts: [10, 20, 30, 40, 50], crashesInRow: 0 };

    assert.equal(roomAt(window, 60, DEFAULT_LIMITS), 10 + DEFAULT_LIMITS.spanMs);
    assert.equal(roomAt({ ...window, starts: [10] }, 60, DEFAULT_LIMITS), 60);
  });

  it('counts crashes from one again after a long run, and spreads delays by a tenth (WINDOW-3)', () => {
    const fifth = [1, 2, 3, 4, 5].reduce((window) => recordCrash(window, 0, DEFAULT_LIMITS), EMPTY_WINDOW);

    assert.deepEqual(
      [crashDelay(fifth, 0, DEFAULT_LIMITS), crashDelay(fifth, 0.999, DEFAULT_LIMITS)],
      [16_000, 17_598],
    );
    assert.equal(crashDelay(recordCrash(fifth, DEFAULT_LIMITS.resetAfterMs, DEFAULT_LIMITS), 0.5, DEFAULT_LIMITS), 0);
  });
});
