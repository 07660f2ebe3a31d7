// The runner of the supervisor's machine: whichever call of log, trace or record throws, every event reaches the state that the pure machine says.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { projectPaths } from '../../../shared/files/paths.ts';
import { RuntimeLog } from '../../../supervisor/log/runtime-log.ts';
import type { Event, Machine } from '../../../supervisor/machine/machine.ts';
import { step } from '../../../supervisor/machine/transition.ts';
import { Supervisor, type SupervisorOptions, type TracedStep } from '../../../supervisor/supervisor.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { QUICK } from '../../support/process/supervised.ts';
import { ofRun } from '../../support/run-length.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** A log of which one call throws, or each from that one on. */
function faultyLog(
  path: string,
  isFaulty: (call: number) => boolean,
): { readonly log: RuntimeLog; readonly calls: () => number; readonly end: () => void } {
  const real = new RuntimeLog({ path, base: {} });
  let calls = 0;
  const log = new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]): unknown => {
        calls += 1;
        if (isFaulty(calls)) throw new Error(`planted: call ${calls}, ${String(name)}`);
        return Reflect.apply(member, target, args);
      };
    },
  });
  return { log, calls: () => calls, end: () => real.unwatch() };
}

/** Cannot be bound: no socket outlasts a life. */
const NO_ADDRESS = '256.0.0.1';

interface Life {
  readonly supervisor: Supervisor;
  readonly steps: TracedStep[];
  readonly stopped: () => number | undefined;
}

function life(
  project: string,
  {
    log,
    worker,
    trace,
    host = '127.0.0.1',
  }: Pick<SupervisorOptions, 'log' | 'trace'> & { readonly worker: string; readonly host?: string },
): Life {
  const steps: TracedStep[] = [];
  let code: number | undefined;
  const supervisor = new Supervisor({
    paths: projectPaths(project),
    log,
    mode: 'production',
    workerArgs: [worker],
    workerFile: worker,
    environment: {},
    secrets: {},
    settings: { ...QUICK, host },
    lock: {},
    trace: (taken) => {
      steps.push(taken);
      trace?.(taken);
    },
    onStopped: (ended) => {
      code = ended;
    },
  });
  return { supervisor, steps, stopped: () => code };
}

const run = (kind: 'up' | 'progress' | 'heartbeat' | 'address_told') => ({ kind });
const eventArbitrary = fc.oneof(
  fc.constantFrom<Partial<Event>>({ kind: 'lock_held' }, { kind: 'clear' }, { kind: 'tick' }, { kind: 'clock_jump' }),
  fc.constantFrom<Partial<Event>>(run('up'), run('progress'), run('heartbeat'), run('address_told')),
  fc
    .constantFrom(0, 1, 51, 75, 78, null)
    .map((code): Partial<Event> => ({ kind: 'exited', exit: { code, signal: null }, detail: '' })),
  fc
    .tuple(fc.constantFrom(0, 51, 75), fc.boolean())
    .map(([code, switched]): Partial<Event> => ({ kind: 'worker_stopping', code, switched })),
  fc.constantFrom<Partial<Event>>({ kind: 'restart' }, { kind: 'start' }, { kind: 'handover_failed' }),
  fc.constantFrom<Partial<Event>>({ kind: 'spawn_failed', code: 'EMFILE', detail: '' }),
  fc.boolean().map((now): Partial<Event> => ({ kind: 'stop', now })),
);

describe('the runner of the supervisor, over faults of what it does beside its decisions', () => {
  it('takes every event to the state of the pure machine, whichever call throws', (t) => {
    const { path } = temporaryProject(t);
    const nowhere = `${path}/gone`; // no process is made there
    fc.assert(
      fc.property(fc.array(eventArbitrary, { maxLength: 30 }), fc.nat(60), fc.boolean(), (events, from, lasts) => {
        const { log } = faultyLog(`${path}/runtime.log`, (call) => (lasts ? call >= from : call === from));
        const trace = (): void => {
          if (lasts) throw new Error('planted: trace');
        };
        const { supervisor, steps } = life(nowhere, { log, worker: 'none', trace, host: NO_ADDRESS });
        let machine: Machine | undefined;
        for (const partial of [{ kind: 'lock_held' } as const, { kind: 'clear' } as const, ...events]) {
          const seen = steps.length;
          const event = { run: machine?.run ?? 0, ...partial } as Event;
          supervisor.dispatch(event);
          const taken = steps[seen];
          assert.ok(taken !== undefined, 'the event has come to no step');
          assert.equal(taken.event, event);
          const expected = step(taken.before, event, taken.moment);
          assert.deepEqual([taken.after, taken.effects], [expected.machine, expected.effects]);
          if (machine !== undefined) assert.equal(taken.before, machine, 'a step was lost');
          machine = steps.at(-1)?.after;
          assert.equal(supervisor.status().state, machine?.state.kind);
        }
        supervisor.dispatch({ kind: 'stop', now: true });
        supervisor.dispatch({ kind: 'exited', run: machine?.run ?? 0, exit: { code: 0, signal: null }, detail: '' });
        assert.equal(supervisor.status().state, 'stopped');
      }),
      { numRuns: ofRun({ short: 50, long: 150 }) },
    );
  });

  describe('over a real worker that is killed, started again and stopped', { concurrency: 3 }, () => {
    let worker = '';
    before(async () => {
      const programs = await bundlePrograms(['test/support/fixture-programs/healthy.ts']);
      worker = programs.get('healthy') ?? '';
    });

    const whole = async (t: Cleanup, isFaulty: (call: number) => boolean): Promise<number> => {
      const { path, paths } = temporaryProject(t);
      mkdirSync(paths.stateDir, { mode: 0o700 });
      const { log, calls, end } = faultyLog(paths.runtimeLog, isFaulty);
      const { supervisor, steps, stopped } = life(path, { log, worker });
      t.after(() => {
        end();
        const { pid } = supervisor.status();
        if (pid !== null && pid > 1) process.kill(pid, 'SIGKILL');
        rmSync(path, { recursive: true, force: true });
      });
      const isUp = (run: number): Promise<unknown> =>
        until(() => steps.some(({ event }) => event.kind === 'up' && event.run === run), { what: `run ${run} up` });
      supervisor.start();
      await isUp(1);

      const { pid } = supervisor.status();
      assert.ok(pid !== null && pid > 1);
      process.kill(pid, 'SIGKILL');
      await isUp(2);
      assert.equal(supervisor.status().exits.at(-1)?.signal, 'SIGKILL');
      supervisor.dispatch({ kind: 'restart' });
      await isUp(3);
      await supervisor.stop(false);

      assert.equal(stopped(), 0);
      assert.equal(supervisor.status().exits.length, 3);
      return calls();
    };

    it(`comes to the same end when a call of the log throws, each${ofRun({ short: ' fourth', long: '' })} one`, async (t) => {
      const calls = await whole(t, () => false);
      assert.ok(calls > 20, String(calls));
      const step = ofRun({ short: 4, long: 1 });
      const faults = Array.from({ length: Math.ceil(calls / step) }, (_, index) => index * step + 1);
      for (let next = 0; next < faults.length; next += 6)
        await Promise.all(faults.slice(next, next + 6).map((fault) => whole(t, (call) => call === fault)));
    });

    for (const from of ofRun({ short: [1, 10], long: [1, 5, 10, 20] }))
      it(`comes to the same end where each call from number ${from} on throws`, async (t) => {
        await whole(t, (call) => call >= from);
      });
  });
});
