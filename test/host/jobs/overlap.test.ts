// Due times while a run is open, runs by hand beside them, and what becomes of the runs of a removed job.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin } from '../../../worker/sdk/index.ts';
import { entry, type JobsHost, jobsHost, SAY_TO } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;
const CALLER = { actor: 'token:test', scope: 'full', requestId: '1' } as const;
const count = ({ ledger }: JobsHost, state: string): number => ledger().filter((one) => one.state === state).length;

/** A command that ends when the test says so. */
function slow() {
  const waiting: (() => void)[] = [];
  const module = definePlugin({
    name: 'slow',
    setup(p) {
      p.command('slow', { summary: 'Takes long', timeoutMs: 3_600_000 }, async () => {
        await new Promise<void>((resolve) => waiting.push(resolve));
      });
    },
  });
  return { module, waiting, end: () => waiting.shift()?.() };
}

const command = (id: string, timing: Readonly<Record<string, unknown>>) => ({
  id,
  do: { command: { in: SAY_TO, line: '/slow' } },
  ...timing,
});

async function slowHost(t: Parameters<typeof jobsHost>[0], timing: Readonly<Record<string, unknown>>) {
  const work = slow();
  const made = await jobsHost(t, {
    modules: { slow: work.module },
    jobs: [command('work', { every: '1m', from: '2026-01-01T12:00Z', ...timing })],
  });
  return { ...made, work, made };
}

describe('a due time beside an open run', () => {
  it('is skipped by default', async (t) => {
    const { host, work, made } = await slowHost(t, {});
    await host.advance(3 * MINUTE);
    assert.equal(work.waiting.length, 1);
    assert.equal(count(made, 'skipped'), 2);
    work.end();
    await host.quiet();
    await host.advance(2_000);

    assert.equal(count(made, 'done'), 1);
    assert.deepEqual(
      host.events('job.skipped').map(({ data }) => data['reason']),
      ['overlap', 'overlap'],
    );
  });

  it('waits in order by queue, and past a hundred is skipped', async (t) => {
    const { host, work, made } = await slowHost(t, { every: '10s', overlap: 'queue' });
    await host.advance(1_030_000);
    assert.equal(work.waiting.length, 1);
    assert.equal(count(made, 'running'), 101);
    assert.equal(count(made, 'skipped'), 2);
  });

  it('runs beside it by allow', async (t) => {
    const { host, work } = await slowHost(t, { overlap: 'allow' });
    await host.advance(3 * MINUTE);

    assert.equal(work.waiting.length, 3);
  });

  it('refuses a run by hand, and a run by hand counts as open', async (t) => {
    const { host, jobs, made } = await slowHost(t, { every: '1h' });
    const { api } = jobs;
    await api.run('work', { caller: CALLER, keep: () => [] });
    await host.quiet();

    await assert.rejects(api.run('work', { caller: CALLER, keep: () => [] }), /a run of work is open/);
    await host.advance(60 * MINUTE + 2_000);
    assert.equal(count(made, 'skipped'), 1);
  });

  it('of a removed job ends, and those that wait are skipped', async (t) => {
    const { host, work, write, made } = await slowHost(t, { overlap: 'queue' });
    await host.advance(3 * MINUTE);
    assert.equal(count(made, 'running'), 3);
    write([]);
    await host.advance(3_000);
    assert.deepEqual([count(made, 'running'), count(made, 'skipped')], [1, 2]);
    work.end();
    await host.quiet();
    await host.advance(2_000);

    assert.deepEqual([count(made, 'done'), count(made, 'skipped')], [1, 2]);
    assert.equal(work.waiting.length, 0);
    assert.deepEqual(host.rows('SELECT id FROM due'), []);
  });
});

describe('a run', () => {
  it('fails where its account or its command is not there', async (t) => {
    const made = await jobsHost(t, {
      jobs: [
        {
          ...entry('a', { cron: '1 12 * * *' }),
          do: { say: { to: { endpoint: 'irc~gone', conversation: '#a' }, text: 'a' } },
        },
        command('b', { cron: '1 12 * * *' }),
      ],
    });
    await made.host.advance(2 * MINUTE);

    const found = made.ledger().map(({ job, state, reason }) => `${job} ${state} ${reason}`);
    assert.deepEqual(new Set(found), new Set(['a failed endpoint_unknown', 'b failed command_unknown']));
    assert.deepEqual(made.host.states('inbox'), []);
  });
});
