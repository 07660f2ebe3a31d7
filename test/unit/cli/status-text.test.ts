// What `runtime status` prints: everything that an operator asks first, and nothing that an older side did not say.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { nextStep, statusText } from '../../../supervisor/cli/output/status-text.ts';

const same = (text: string): string => text;
const color = { good: same, bad: same, warn: same, dim: same, bold: same };

const STATUS: RuntimeStatus = {
  state: 'backing_off',
  since: '2026-01-01T00:00:00.000Z',
  owner: 'daemon',
  reason: 'waiting after a crash: signal SIGKILL',
  pid: null,
  supervisorPid: 7,
  runtimeId: null,
  generation: null,
  ready: false,
  reasons: [],
  address: null,
  socket: 'supervisor',
  standby: 'loading',
  startedAt: null,
  version: null,
  configVersion: null,
  budget: { limit: 5, left: 3, windowMs: 120_000, nextStartAt: '2026-01-01T00:00:04.000Z' },
  exits: [
    {
      run: 2,
      pid: 8,
      runtimeId: 'r-2',
      at: '2026-01-01T00:00:00.000Z',
      code: null,
      signal: 'SIGKILL',
      reason: 'crashed',
      detail: 'signal SIGKILL',
      wasUp: true,
      durationMs: 2_340,
      lastLines: ['one', 'two', 'three'],
    },
  ],
  log: '.svc/runtime.log',
  mode: 'production',
  notes: [],
};

describe('statusText about what a ready host has lost', () => {
  it('counts dead letters and accounts, and names accounts that are not online with since when', () => {
    const since = new Date(Date.now() - 12 * 60_000).toISOString();
    const accounts = { total: 4, online: 3, others: [{ name: 'irc~libera', state: 'offline', since }] };
    const facts = (status: Partial<RuntimeStatus>) =>
      statusText({ ...STATUS, ...status }, { color, lines: 0 }).filter((line) => /^(accounts|dead) /.test(line));

    assert.deepEqual(facts({ accounts, dead: { inbox: 2, outbox: 2 } }), [
      'accounts    3 of 4 online: irc~libera offline 12 min',
      'dead        2 in, 2 out: svc inbox list --causes, svc outbox list --causes',
    ]);
    assert.deepEqual(facts({ accounts: { ...accounts, online: 1 }, dead: { inbox: 0, outbox: 0 } }), [
      'accounts    1 of 4 online: irc~libera offline 12 min, and 2 more',
    ]);
    assert.deepEqual(facts({ accounts: { total: 1, online: 1, others: [] } }), ['accounts    1 of 1 online']);
    assert.deepEqual(
      [facts({}), facts({ accounts: null, dead: null })],
      [[], []],
      'of an older worker, or before it serves',
    );
  });
});

describe('statusText', () => {
  it('names state, since when and why, budget, spare, and each end with its last words', () => {
    assert.deepEqual(statusText(STATUS, { color, lines: 2 }), [
      'backing off since 2026-01-01T00:00:00.000Z: waiting after a crash: signal SIGKILL',
      'owner       daemon, pid 7, mode production',
      'spare       loading',
      'budget      3 of 5 starts left within 120 s, next start at 2026-01-01T00:00:04.000Z',
      'log         .svc/runtime.log',
      'ended       2026-01-01T00:00:00.000Z pid 8, runtime r-2, after 2.3 s, crashed (signal SIGKILL): signal SIGKILL',
      '            two',
      '            three',
    ]);
  });

  it('offers the next step where the host waits for its operator', () => {
    const [exit] = STATUS.exits;
    const step = (state: string, { ready = false, code = 1 }: { ready?: boolean; code?: number } = {}) =>
      nextStep({ state, ready, exits: exit === undefined ? [] : [{ ...exit, code }] });

    assert.equal(
      step('failed'),
      'next: `svc runtime logs --level error` shows the cause; mend it, then `svc runtime restart` starts it again',
    );
    assert.match(step('failed', { code: 78 }) ?? '', /^next: `svc config check` shows the cause;/);
    assert.equal(step('running'), 'next: `svc doctor` says what helps');
    assert.deepEqual([step('running', { ready: true }), step('backing_off')], [undefined, undefined]);
  });

  it('does not take the start of the next worker for the time of an end that nobody saw', () => {
    const [exit] = STATUS.exits;
    const unseen = { ...STATUS, exits: exit === undefined ? [] : [{ ...exit, durationMs: null, detail: null }] };

    assert.match(
      statusText(unseen, { color, lines: 0 }).at(-1) ?? '',
      /^ended       unseen, the next one started 2026-01-01T00:00:00\.000Z: pid 8, /,
    );
  });

  it('tells of each end the code or the signal, and neither where nobody saw it', () => {
    const [exit] = STATUS.exits;
    const how = (code: number | null, signal: string | null): string | undefined =>
      statusText(
        { ...STATUS, exits: exit === undefined ? [] : [{ ...exit, code, signal, detail: null }] },
        { color, lines: 0 },
      )
        .find((line) => line.startsWith('ended'))
        ?.split('after 2.3 s, ')[1];

    assert.deepEqual(
      [how(1, null), how(0, null), how(null, 'SIGABRT'), how(null, null)],
      ['crashed (code 1)', 'crashed (code 0)', 'crashed (signal SIGABRT)', 'crashed'],
    );
  });

  it('names the worker, its address and who holds the socket, and leaves old words out when all is well', () => {
    const { standby: _, ...older } = STATUS;
    const well: RuntimeStatus = {
      ...older,
      state: 'running',
      ready: true,
      reason: null,
      pid: 9,
      runtimeId: 'r-3',
      generation: 4,
      version: '1.0.0',
      address: { host: '127.0.0.1', port: 8068 },
    };

    const lines = statusText(well, { color, lines: 2 });

    assert.equal(lines[0], 'ready, running since 2026-01-01T00:00:00.000Z');
    const unready = statusText({ ...well, ready: false, reasons: ['agent:x: none'] }, { color, lines: 2 });
    assert.deepEqual(unready.slice(0, 2), ['not ready, running since 2026-01-01T00:00:00.000Z', '  agent:x: none']);
    assert.equal(lines[1], 'worker      pid 9, runtime r-3, generation 4, version 1.0.0');
    assert.equal(lines[3], 'address     127.0.0.1:8068, socket held by the supervisor');
    const overSix = statusText({ ...well, address: { host: '::1', port: 8068 } }, { color, lines: 2 });
    assert.equal(overSix[3], 'address     [::1]:8068, socket held by the supervisor');
    assert.deepEqual(
      [lines.includes('            three'), lines.some((line) => line.startsWith('spare'))],
      [false, false],
    );
  });
});
