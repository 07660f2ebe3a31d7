// What `svc doctor` makes of the host that runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { endpointsFinding, readyFinding } from '../../../supervisor/cli/doctor/runtime-checks.ts';

describe('runtime.ready', () => {
  it('tells why the host that runs is not ready, and where to ask what helps', () => {
    const status = {
      state: 'running',
      ready: false,
      reason: null,
      reasons: ['runtime: ./plugins/own.js cannot be loaded'],
      address: { host: '0.0.0.0', port: 8068 },
      generation: null,
      pid: 7,
    } as unknown as RuntimeStatus;

    const up = readyFinding(status, '/bot');
    const failed = readyFinding({ ...status, state: 'failed', reason: '5 starts', reasons: [], address: null }, '');
    const ready = readyFinding({ ...status, ready: true, generation: 3 }, '');

    assert.deepEqual(up, {
      status: 'warn',
      reason: 'the host is not ready: runtime: ./plugins/own.js cannot be loaded',
      fix: 'svc doctor --live http://127.0.0.1:8068/bot says what helps with each',
    });
    assert.deepEqual([failed.status, failed.reason], ['warn', 'the host is failed: 5 starts']);
    assert.match(failed.fix ?? '', /svc runtime restart$/);
    assert.equal(ready.status, 'ok');
  });
});

describe('runtime.endpoints', () => {
  const endpoint = (name: string, state: string, lastError: unknown = null) => ({
    id: `root/x:${name}`,
    name,
    state,
    lastError,
  });

  it('names the accounts that do not work with why, the failed ones first, and says where what helps stands', () => {
    const refused = { code: 'account_failed', reason: 'the token is refused', remedy: 'make another one' };

    const all = endpointsFinding([
      endpoint('a', 'online', refused),
      endpoint('b', 'offline', { code: 'x', reason: 'connection lost', remedy: null }),
      endpoint('c', 'failed', refused),
      endpoint('d', 'disabled'),
      ...['e', 'f', 'g', 'h', 'i'].map((name) => endpoint(name, 'degraded')),
    ]);
    const one = endpointsFinding([endpoint('b', 'offline'), endpoint('a', 'online')]);

    assert.deepEqual(all, {
      status: 'warn',
      reason:
        '7 of 9 do not work: c is failed (the token is refused; make another one); b is offline (connection lost); e is degraded; f is degraded; g is degraded; and 2 more',
      fix: 'svc endpoints list says of each what helps; svc doctor --endpoint <name> asks its platform',
    });
    assert.deepEqual(one, { status: 'warn', reason: '1 of 2 do not work: b is offline', fix: 'svc endpoints show b' });
    assert.equal(endpointsFinding([endpoint('a', 'online', refused), endpoint('d', 'connecting')]).status, 'ok');
  });
});
