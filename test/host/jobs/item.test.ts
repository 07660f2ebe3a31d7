// A job that opens an item on a board of the Workroom, as its own actor.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type JobsHost, jobsHost } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;
const item = (more: Readonly<Record<string, unknown>> = {}) => ({
  item: { board: 'web', title: 'Renew the certificate', ...more },
});
const CALLER = { actor: 'token:full', scope: 'full', requestId: '' } as const;

async function workroomHost(t: TestContext, jobs: readonly Readonly<Record<string, unknown>>[]): Promise<JobsHost> {
  const made = await jobsHost(t, { config: { host: { name: 'team', kind: 'workroom' } }, jobs });
  for (const command of [
    { kind: 'board.add', board: 'web', name: 'Web site' },
    { kind: 'member.add', member: 'ann' },
    { kind: 'role.grant', board: 'web', member: 'ann', role: 'worker' },
  ])
    await made.workroom.api?.command(CALLER, command, { key: undefined, ifVersion: undefined, keep: () => [] });
  return made;
}

const events = ({ host }: JobsHost) =>
  host.rows<{ kind: string; actor: string; data: string }>(
    "SELECT kind, actor, data FROM workroom_events WHERE stream LIKE 'item/%' ORDER BY seq",
  );
const endsOf = ({ ledger }: JobsHost) => ledger().map(({ job, state, reason }) => [job, state, reason]);

describe('a job that opens an item', () => {
  it('opens it as job:<id>, assigned and with its deadline counted from the due time', async (t) => {
    const made = await workroomHost(t, [
      { id: 'renew', cron: '1 12 * * *', do: item({ assign: 'ann', due: '3d' }) },
      { id: 'plain', cron: '2 12 * * *', do: item() },
    ]);
    await made.host.advance(3 * MINUTE);

    assert.deepEqual(
      events(made).map(({ kind, actor }) => [kind, actor]),
      [
        ['item.created', 'job:renew'],
        ['item.assigned', 'job:renew'],
        ['item.due_set', 'job:renew'],
        ['item.created', 'job:plain'],
      ],
    );
    assert.equal(JSON.parse(events(made)[2]?.data ?? '').due, Date.parse('2026-01-04T12:01:00Z'));
    const shown = await made.workroom.api?.item('web-1', true);
    assert.deepEqual([shown?.title, shown?.assignee, shown?.state], ['Renew the certificate', 'ann', 'assigned']);
    assert.deepEqual(endsOf(made), [
      ['renew', 'done', null],
      ['plain', 'done', null],
    ]);
  });

  it('fails with its reason where board or member is not there, and no item is opened', async (t) => {
    const made = await workroomHost(t, [
      { id: 'nowhere', cron: '1 12 * * *', do: item({ board: 'ops' }) },
      { id: 'nobody', cron: '2 12 * * *', do: item({ assign: 'bob' }) },
    ]);
    await made.host.advance(3 * MINUTE);

    assert.deepEqual(endsOf(made), [
      ['nowhere', 'failed', 'board_unknown'],
      ['nobody', 'failed', 'member_unknown'],
    ]);
    assert.deepEqual(events(made), []);
  });

  it('fails on a host that is no Workroom', async (t) => {
    const made = await jobsHost(t, { jobs: [{ id: 'renew', cron: '1 12 * * *', do: item() }] });
    await made.host.advance(2 * MINUTE);

    assert.deepEqual(endsOf(made), [['renew', 'failed', 'host_is_no_workroom']]);
  });

  it('opens one item over a kill between its commit and the note of the end', async (t) => {
    const jobs = [{ id: 'renew', cron: '1 12 * * *', do: item() }];
    const made = await jobsHost(t, { config: { host: { name: 'team', kind: 'workroom' } }, jobs: [] });
    await made.workroom.api?.command(
      CALLER,
      { kind: 'board.add', board: 'web', name: 'Web site' },
      { key: undefined, ifVersion: undefined, keep: () => [] },
    );
    const next = await made.restart({ jobs, killAt: { point: 'job_ended', pass: 1 } });
    await next.host.advance(2 * MINUTE);
    assert.ok(next.isKilled());
    const last = await next.restart();
    await last.host.advance(2 * MINUTE);

    assert.deepEqual(
      events(last).map(({ kind }) => kind),
      ['item.created'],
    );
    assert.deepEqual(endsOf(last), [['renew', 'done', null]]);
  });
});
