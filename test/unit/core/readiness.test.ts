// The readiness checks from facts alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate, type ReadinessFacts } from '../../../worker/readiness/evaluate.ts';
import { Readiness } from '../../../worker/readiness/readiness.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

const facts = (more: Partial<ReadinessFacts> = {}): ReadinessFacts => ({
  database: { kind: 'open' },
  noRoom: undefined,
  generation: 3,
  failure: undefined,
  requirements: { database: true, endpoints: [], agents: [] },
  endpoint: () => undefined,
  ...more,
});
const unmet = (more: Partial<ReadinessFacts>): string[] =>
  evaluate(facts(more))
    .filter(({ ready }) => !ready)
    .map(({ component, reason }) => `${component}: ${reason}`);
const requires = (state: string, reason?: string): Partial<ReadinessFacts> => ({
  requirements: { database: true, endpoints: [{ owner: 'root/irc', name: 'irc~a' }], agents: [] },
  endpoint: () => ({ state: state as never, reason, remedy: undefined }),
});

describe('readiness', () => {
  it('asks for a committed generation and a database', () => {
    assert.deepEqual(unmet({}), []);
    assert.deepEqual(unmet({ generation: null }), ['runtime: the first generation is being assembled']);
    assert.deepEqual(unmet({ generation: null, failure: { code: 'plugin_failed', message: 'bad plugin' } }), [
      'runtime: bad plugin',
    ]);
    assert.deepEqual(unmet({ generation: null, database: { kind: 'opening' } }), [
      'runtime: no generation without a database',
      'database: being opened',
    ]);
  });

  it('says what helps: a process that is asked for code it cannot load anew is to be restarted', () => {
    const remedies = (failure: ReadinessFacts['failure']) =>
      evaluate(facts({ generation: null, failure })).map(({ remediation }) => remediation);

    assert.match(remedies({ code: 'plugin_failed', message: 'bad', hint: 'x' })[0] ?? '', /mend.*svc runtime reload$/);
    assert.equal(
      remedies({ code: 'restart_required', message: 'own.js', hint: 'svc runtime restart' })[0],
      'svc runtime restart',
    );
  });

  it('is not ready while the disk has no room, since every delivery is refused', () => {
    const noRoom = '5 bytes are free, disk.minFreeBytes asks for 9';

    assert.deepEqual(unmet({ noRoom }), [`database: nothing more is taken in: ${noRoom}`]);
  });

  it('is not ready without a database, even where that is not asked for', () => {
    const database = { kind: 'failed', code: 'storage_unavailable', reason: 'full', hint: undefined } as const;
    const requirements = { database: false, endpoints: [], agents: [] };

    assert.deepEqual(unmet({ database, requirements }), ['runtime: generation 3 serves, but nothing can be stored']);
    assert.equal(evaluate(facts({ database, requirements })).length, 1);
  });

  it('takes an account that is admitted, connected or not', () => {
    const verdicts = ['connecting', 'online', 'degraded', 'offline', 'disabled', 'failed'].map(
      (state) => unmet(requires(state)).length === 0,
    );

    assert.deepEqual(verdicts, [true, true, true, true, false, false]);
  });

  it('names what is missing and what to do about it', () => {
    const missing = { ...requires('online'), endpoint: () => undefined };
    const remedies = [missing, requires('disabled'), requires('failed', 'revoked')].map(
      (more) => evaluate(facts(more)).at(-1)?.remediation ?? '',
    );

    assert.match(remedies[0] ?? '', /svc\.config\.yml/);
    assert.equal(
      evaluate(facts({ ...missing, generation: null })).at(-1)?.remediation,
      'see the check of the runtime',
      'while the host starts, the account is no fault of the file',
    );
    assert.match(remedies[1] ?? '', /svc endpoints enable root\/irc:irc~a/);
    assert.match(remedies[2] ?? '', /svc endpoints reconnect/);
    assert.deepEqual(unmet({ requirements: { database: true, endpoints: [], agents: ['helper'] } }), [
      'agent:helper: no such binding is configured',
    ]);
  });

  it('ends with a drain, whatever the checks say, and tells of each change once', () => {
    const told: string[] = [];
    const readiness = new Readiness({
      clock: new ManualClock(0),
      facts: () => facts(),
      identity: () => ({ project: 'p', version: '1', runtimeId: 'r', configVersion: 'c', ingress: 'open' }),
      changed: ({ ready, state }) => told.push(`${state} ${ready}`),
    });

    readiness.look();
    readiness.started();
    readiness.look();
    readiness.draining();

    assert.equal(readiness.ready, false);
    assert.ok(readiness.report().checks.every(({ ready }) => ready));
    assert.deepEqual(told, ['starting false', 'ready true', 'draining false']);
  });
});
