// What `svc doctor` makes of the host that runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuntimeStatus } from '../../shared/api/control.ts';
import { readyFinding } from '../../supervisor/cli/doctor/runtime-checks.ts';

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
