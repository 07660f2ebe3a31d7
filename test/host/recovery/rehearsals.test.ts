// A running host verifies checkpoints in a process of its own: when asked for, and the newest by its schedule.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { noFailpoint } from '../../../shared/process/failpoints.ts';
import { storedCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';
import type { Core } from '../../../worker/core/core.ts';
import type { NewEvent } from '../../../worker/events/event-types.ts';
import { Rehearsals } from '../../../worker/host/rehearsals.ts';
import { readRestorePlan } from '../../../worker/recovery/restore/restore.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { running } from '../../support/hosts/app-host.ts';
import { checkpointOf, partFile, stoppedWorkroom } from '../../support/recovery/workroom-state.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 86_400_000;

interface VerifiedEvent {
  readonly subject: string;
  readonly actor: string;
  readonly data: { readonly level: string; readonly ok: boolean };
}

function rehearsalsOf(t: Cleanup, project: TemporaryProject, clock: ManualClock, days = 7) {
  const events: NewEvent[] = [];
  const nothing = (): void => {};
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const core = { runtimeId: newRuntimeId(), clock, log, point: noFailpoint } as unknown as Core;
  const rehearsals = new Rehearsals({
    core,
    project: project.path,
    environment: project.env,
    days: () => days,
    tell: async (event) => void events.push(event),
  });
  t.after(() => rehearsals.stop());
  const ended = (count: number) => until(() => events.length === count, { what: `verification ${count}` });
  return { rehearsals, events, ended };
}

describe('verifications of a running host', () => {
  it('are begun over HTTP, told by an event, and stand in list, status and metrics', async (t) => {
    const host = await running(t);
    const { json } = await host.call('POST', '/api/checkpoints', {});
    const name = String(json['name']);
    const list = async () => (await host.call('GET', '/api/checkpoints')).json;
    await until(async () => (await list())['running'] === null, { what: 'the checkpoint' });

    assert.equal((await host.call('POST', '/api/checkpoints/c9/verify', {})).status, 404);
    const begun = await host.call('POST', `/api/checkpoints/${name}/verify`, {});
    assert.deepEqual([begun.status, begun.json], [202, { name }]);
    assert.equal((await host.call('POST', `/api/checkpoints/${name}/verify`, { quick: true })).status, 409);
    const ofVerified = async () => {
      const { json: page } = await host.call('GET', '/api/events?format=json&types=checkpoint.verified&limit=10');
      return (page['events'] ?? page['items']) as readonly VerifiedEvent[];
    };
    await until(async () => (await ofVerified()).length === 1, { what: 'the verification' });

    const [event] = await ofVerified();
    const { level, ok } = event?.data ?? {};
    assert.deepEqual([event?.subject, level, ok, event?.actor], [name, 'rehearsed', true, 'token:full']);
    const [shown] = (await list())['checkpoints'] as { level: string }[];
    assert.equal(shown?.level, 'rehearsed');
    assert.match((await host.call('GET', '/api/metrics')).text, /svc_checkpoint_verified_seconds\{[^}]*\} \d/);
  });

  it('leave room for the plan of a restore, which is that of the command', async (t) => {
    const host = await running(t);
    const { project, call } = host;
    const { json } = await call('POST', '/api/checkpoints', {});
    const name = String(json['name']);
    await until(async () => (await call('GET', '/api/checkpoints')).json['running'] === null, {
      what: 'the checkpoint',
    });

    const path = `/api/checkpoints/${name}/plan`;
    const answers = await Promise.all([call('GET', path), call('GET', path)]);
    const [plan] = answers.filter(({ status }) => status === 200);
    const request = { project: project.path, environment: project.env, name, carry: true, open: undefined };
    const told = readRestorePlan(request);

    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
    assert.deepEqual(plan?.json, JSON.parse(JSON.stringify(told)));
    assert.deepEqual(plan?.json['secrets'], []);
    assert.equal((await call('GET', '/api/checkpoints/c9/plan')).status, 404);
  });

  it('rehearse the newest good one each so many days, and the one before it where it is damaged', async (t) => {
    const project = await stoppedWorkroom(t);
    for (const name of ['c1', 'c2']) assert.equal(await checkpointOf(project), name);
    rmSync(partFile(project.path, 'c2', 'jobs.json'));
    const clock = new ManualClock(Date.now());
    const { rehearsals, events, ended } = rehearsalsOf(t, project, clock);

    rehearsals.look();
    await ended(1);
    assert.equal(storedCheckpoint(project.path, 'c2')?.verification?.ok, false);
    rehearsals.look();
    await ended(2);
    assert.equal(storedCheckpoint(project.path, 'c1')?.level, 'rehearsed');
    assert.deepEqual([...rehearsals.failures], [['damaged', 1]]);
    rehearsals.look();
    clock.step(6 * DAY_MS);
    rehearsals.look();
    await rehearsals.stop();
    assert.deepEqual(
      events.map(({ type, subject, actor, data }) => [type, subject, actor, (data as { ok: boolean }).ok]),
      [
        ['checkpoint.verified', 'c2', 'schedule', false],
        ['checkpoint.verified', 'c1', 'schedule', true],
      ],
    );
  });

  it('leave a checkpoint out that has other packages than the project, and remove what a kill has left', async (t) => {
    const project = await stoppedWorkroom(t);
    await checkpointOf(project);
    writeFileSync(project.paths.lockfile, '{"lockfileVersion":3}'); // of a release since
    mkdirSync(project.paths.rehearsalDir);
    const { rehearsals, events, ended } = rehearsalsOf(t, project, new ManualClock(Date.now()));

    rehearsals.look();
    await until(() => !existsSync(project.paths.rehearsalDir), { what: 'the removal' });
    assert.equal(await checkpointOf(project), 'c2');
    rehearsals.look();
    await ended(1);

    assert.deepEqual(
      events.map(({ subject }) => subject),
      ['c2'],
    );
  });

  it('are never begun where verifyDays is 0, or where there is no checkpoint', async (t) => {
    const project = temporaryProject(t);
    const clock = new ManualClock(Date.now());
    const never = rehearsalsOf(t, project, clock, 0);
    const empty = rehearsalsOf(t, project, clock);
    for (const { rehearsals } of [never, empty]) {
      rehearsals.look();
      await rehearsals.stop();
    }
    assert.deepEqual([...never.events, ...empty.events], []);
    assert.throws(
      () => empty.rehearsals.begin({ name: '../c1', quick: true, actor: 'a' }),
      (error) => (error as { code: string }).code === 'not_found',
    );
  });
});
