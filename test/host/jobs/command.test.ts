// The rights of a command that a job runs: those of an operator, marked in the stored item. No person gets them by a name.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t as schema } from '../../../worker/sdk/index.ts';
import { jobsHost, SAY_TO } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;

const secret = () =>
  definePlugin({
    name: 'secret',
    setup(p) {
      p.command(
        'secret',
        { summary: 'For operators', who: 'operator', args: { word: schema.string() } },
        (ctx, { word }) => `${word} for ${ctx.user.id}`,
      );
      p.command('rule', { summary: 'For admins', who: 'admin' }, () => 'ruled');
    },
  });

describe('a command of a job', () => {
  it('counts as an operator and an admin, with its arguments, in its conversation', async (t) => {
    const { host } = await jobsHost(t, {
      modules: { secret: secret() },
      jobs: [
        { id: 'digest', cron: '1 12 * * *', do: { command: { in: SAY_TO, line: '/secret sesame' } } },
        { id: 'rules', cron: '2 12 * * *', do: { command: { in: SAY_TO, line: 'rule' } } },
      ],
    });
    await host.advance(3 * MINUTE);

    assert.deepEqual(host.platform.said('room'), ['sesame for job/digest', 'ruled']);
  });

  it('gives its rights to no person, whatever the name and the id', async (t) => {
    const { host } = await jobsHost(t, { modules: { secret: secret() }, jobs: [] });
    await host.platform.says('/secret sesame', { from: 'job/digest', room: 'room' });
    await host.quiet();

    assert.deepEqual(host.platform.said('room'), ['Only operators may do that.']);
  });
});
