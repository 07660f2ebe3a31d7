// `svc ingress` over a host that answers: waiting for quiet, what still runs, and what a resume would begin.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { commands } from '../../../supervisor/cli/commands/ingress.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { cannedHost } from '../../support/http/canned-host.ts';

const PAUSED = { state: 'paused', mode: 'park', reason: null, until: null, since: null, by: 'token:full' };
const QUIET = { ...PAUSED, quiet: true, parked: 2, waitingSends: 1, handlers: [], sends: [] };
const BUSY = {
  ...QUIET,
  quiet: false,
  handlers: [
    { handler: 'root/shop#on/message', item: 'i1', since: new Date(Date.now() - 90_000).toISOString() },
    { handler: 'root/\u001bshop#task/x', item: 'i2', since: new Date(Date.now() + 3_600_000).toISOString() },
  ],
  sends: [{ endpoint: 'root/irc:irc', count: 3 }],
};

async function commanded(t: TestContext, statuses: readonly object[], { json = false } = {}) {
  let asked = 0;
  const host = await cannedHost(t, {
    'PUT /api/system/ingress': ({ body }) => ({ json: { ...PAUSED, ...(body as object) } }),
    'GET /api/system/ingress': () => ({ json: statuses[Math.min(asked++, statuses.length - 1)] }),
    'GET /api/system/ingress/preview': {
      json: {
        items: [{ endpoint: 'root/irc:irc', kind: 'arrival', count: 2, oldest: '2026-01-01T12:00:00.000Z' }],
        jobs: [{ job: 'tea', runs: 1, missed: 2 }],
        tasks: [{ handler: 'root/remind#task/fire', kind: 'task', count: 4, oldest: null }],
      },
    },
    'GET /api/system/status': { json: {} },
  });
  const context = capturedContext(host.url, { json });
  const run = (verb: string, options: Readonly<Record<string, unknown>> = {}) => {
    const command = commands.find((one) => one.verb === verb);
    assert.ok(command !== undefined);
    return command.run(context, [], options);
  };
  return { host, context, run };
}

describe('svc ingress pause --wait', () => {
  it('ends with 0 once nothing runs, and said before what it waits for', async (t) => {
    const { context, run } = await commanded(t, [BUSY, BUSY, QUIET]);

    assert.equal(await run('pause', { wait: '60s' }), 0);

    assert.deepEqual(context.notes, ['waiting: handlers that run: 2, sends: 3']);
    assert.deepEqual(context.out.slice(-3), [
      'parked: 2 items',
      'sends that wait for their next attempt: 1',
      'quiet: yes',
    ]);
  });

  it('ends with 1 when the time is over, and names what still runs', async (t) => {
    const { context, run } = await commanded(t, [BUSY]);

    assert.equal(await run('pause', { wait: '1s' }), 1);

    const [quiet, first = '', second, sends] = context.out.slice(-4);
    assert.match(first, /^root\/shop#on\/message {2}item i1 {2}\d+s$/);
    assert.deepEqual(
      [quiet, second, sends],
      ['quiet: no', 'root/\\u001bshop#task/x  item i2  0s', 'root/irc:irc  sends: 3'],
    );
  });

  it('has one document with --json', async (t) => {
    const { context, run } = await commanded(t, [QUIET], { json: true });
    await run('pause', { wait: '60s' });
    assert.deepEqual(context.documents, [QUIET]);
  });

  it('refuses an older host, which does not tell what runs, and leaves it paused', async (t) => {
    const { host, run } = await commanded(t, [PAUSED]);

    await assert.rejects(run('pause', { wait: '60s' }), { code: 'refused' });
    assert.equal(host.asked[0]?.method, 'PUT');
  });

  it('takes a time as the end of the pause, and not two ends', async (t) => {
    const { host, run } = await commanded(t, [QUIET]);

    await run('pause', { until: '2100-01-01T00:00:00+01:00' });

    assert.deepEqual(host.asked[0]?.body, { state: 'paused', mode: 'park', until: '2099-12-31T23:00:00.000Z' });
    for (const wrong of [{ until: 'soon' }, { until: '2100-01-01T00:00:00Z', for: '1h' }, { wait: 'long' }])
      await assert.rejects(run('pause', wrong), { code: 'usage' });
  });
});

describe('svc ingress', () => {
  it('status says what still runs', async (t) => {
    const { context, run } = await commanded(t, [BUSY]);

    assert.equal(await run('status'), 1);
    assert.ok(context.out.includes('quiet: no'));
  });

  it('resume --dry-run has a line for each account, job and handler, and opens nothing', async (t) => {
    const { host, context, run } = await commanded(t, [QUIET]);

    assert.equal(await run('resume', { dryRun: true }), 0);

    assert.deepEqual(context.out, [
      'what | of | count | since',
      'arrival | root/irc:irc | 2 | 2026-01-01T12:00:00.000Z',
      'job | tea | 1 (2 missed) | -',
      'task | root/remind#task/fire | 4 | -',
    ]);
    assert.deepEqual(
      host.asked.map(({ method }) => method),
      ['GET'],
    );
  });
});
