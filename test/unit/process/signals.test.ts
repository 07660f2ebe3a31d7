// Signals of a process: which SIGINT is a new key press, and when a hang-up concerns it.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ignoresHangup } from '../../../shared/process/hangup.ts';
import { listenToInterrupts, nextPress, type PressEvent, type Presses } from '../../../shared/process/interrupts.ts';
import { listenToSignals } from '../../../worker/process/signals.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const;
const ERRORS = ['uncaughtException', 'unhandledRejection'] as const;

/** Takes the listeners of a test off again. */
function keepListeners(t: TestContext): void {
  const names = [...SIGNALS, ...ERRORS] as readonly NodeJS.Signals[];
  const before = new Map(names.map((name) => [name, process.listeners(name)]));
  t.after(() => {
    for (const [name, listeners] of before)
      for (const listener of process.listeners(name)) if (!listeners.includes(listener)) process.off(name, listener);
  });
}

/** Moves the clock and lets the turn of the loop end in which its timers ran. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  clock.moveTo(clock.now() + ms);
  await new Promise((resolve) => setImmediate(resolve));
}

function listen(options: { readonly terminal: boolean; readonly ignoresHangup?: boolean }) {
  const heard: string[] = [];
  const clock = new ManualClock(0);
  listenToSignals({
    ignoresHangup: false,
    ...options,
    stop: (reason) => heard.push(`stop ${reason}`),
    force: (reason) => heard.push(`force ${reason}`),
    reopen: () => heard.push('reopen'),
    die: () => {},
    tell: (text) => heard.push(text),
    clock,
  });
  return { heard, clock };
}

const ADVICE = 'stopping; Ctrl-C again ends it without a drain';

describe('signals of a worker', () => {
  it('ask for one drain; a second Ctrl-C on a terminal ends at once (WORKER-2)', async (t) => {
    keepListeners(t);
    const { heard, clock } = listen({ terminal: true });

    for (const name of ['SIGTERM', 'SIGTERM', 'SIGINT', 'SIGUSR1'] as const) process.emit(name);
    await pass(clock, 500);
    process.emit('SIGINT');

    assert.deepEqual(heard, ['stop SIGTERM', 'stop SIGTERM', ADVICE, 'stop SIGINT', 'reopen', 'force second SIGINT']);
  });

  it('take a SIGINT that npm passes on for the same key press (WORKER-2)', async (t) => {
    keepListeners(t);
    const { heard, clock } = listen({ terminal: true });

    process.emit('SIGINT');
    process.emit('SIGINT');
    await pass(clock, 499);
    process.emit('SIGINT');

    assert.deepEqual(heard, [ADVICE, 'stop SIGINT']);
  });

  it('take a SIGINT for the same key press that the loop delivers late (WORKER-2)', (t) => {
    keepListeners(t);
    const { heard, clock } = listen({ terminal: true });

    process.emit('SIGINT');
    clock.moveTo(60_000); // the loop stood still: timers run first, then the waiting signal
    process.emit('SIGINT');

    assert.deepEqual(heard, [ADVICE, 'stop SIGINT']);
  });

  it('never force an end without a terminal, however often SIGINT comes (WORKER-2)', async (t) => {
    keepListeners(t);
    const { heard, clock } = listen({ terminal: false });

    process.emit('SIGINT');
    await pass(clock, 60_000);
    process.emit('SIGINT');

    assert.deepEqual(heard, ['stop SIGINT']);
  });

  it('drain at a hang-up, unless it was ignored when the process began', (t) => {
    keepListeners(t);
    const first = listen({ terminal: true });
    process.emit('SIGHUP');
    process.removeAllListeners('SIGHUP');
    const second = listen({ terminal: false, ignoresHangup: true });

    process.emit('SIGHUP');

    assert.deepEqual(first.heard, ['stop SIGHUP']);
    assert.deepEqual(second.heard, ['SIGHUP changes nothing: this process belongs to no terminal']);
  });
});

describe('Ctrl-C', () => {
  it('means the first press, the same or another, by order alone', () => {
    const meanings = (events: readonly PressEvent[]): string => {
      let presses: Presses = 'none';
      return events
        .map((event) => {
          const next = nextPress(presses, event);
          presses = next.presses;
          return next.meaning;
        })
        .join(' ');
    };

    assert.equal(meanings(['interrupt', 'interrupt', 'released', 'interrupt']), 'first same none again');
    assert.equal(meanings(['released', 'interrupt', 'interrupt']), 'none first same');
    assert.equal(meanings(['interrupt', 'released', 'interrupt', 'interrupt']), 'first none again again');
  });

  it('ends a command that follows once, and at once with the second press', async (t) => {
    keepListeners(t);
    const heard: string[] = [];
    const clock = new ManualClock(0);
    listenToInterrupts({ first: () => heard.push('first'), again: () => heard.push('again'), clock });

    process.emit('SIGINT');
    process.emit('SIGINT');
    await pass(clock, 500);
    process.emit('SIGINT');

    assert.deepEqual(heard, ['first', 'again']);
  });
});

describe('a hang-up', () => {
  const everything = (descriptor: number): boolean => descriptor <= 2;
  const status = (ignored: string): string => `Name:\tsh\nSigBlk:\t0000000000000000\nSigIgn:\t${ignored}\nSigCgt:\t0\n`;

  it('concerns a process on a terminal', () => {
    assert.equal(ignoresHangup({ isTerminal: everything, command: '/usr/bin/svc', parentStatus: undefined }), false);
    assert.equal(
      ignoresHangup({ isTerminal: everything, command: undefined, parentStatus: status('0000000000384004') }),
      false,
    );
    assert.equal(
      ignoresHangup({ isTerminal: (descriptor) => descriptor === 0, command: undefined, parentStatus: undefined }),
      false,
      'its output goes to a file or a pipe',
    );
  });

  it('is ignored without a terminal, as nohup leaves it', () => {
    assert.equal(ignoresHangup({ isTerminal: () => false, command: undefined, parentStatus: undefined }), true);
  });

  it('is ignored under nohup that leaves stdin on the terminal', () => {
    const isTerminal = (descriptor: number): boolean => descriptor === 0;
    assert.equal(ignoresHangup({ isTerminal, command: '/usr/bin/nohup', parentStatus: undefined }), true);
    assert.equal(
      ignoresHangup({ isTerminal: everything, command: '/usr/bin/nohup', parentStatus: undefined }),
      false,
      'a shell of a terminal that was itself begun under nohup',
    );
  });

  it('is ignored where the shell that began the process ignores it', () => {
    const of = (ignored: string): boolean =>
      ignoresHangup({ isTerminal: everything, command: undefined, parentStatus: status(ignored) });

    assert.equal(of('0000000000000001'), true);
    assert.equal(of('0000000000000006'), false);
    assert.equal(of('ffffffffffffffff'), true);
  });
});
