// `svc jobs` on the file of a project without a host, and on a running one.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import type { CommandContext, HostClient } from '../../../supervisor/cli/command.ts';
import { commands } from '../../../supervisor/cli/commands/jobs/jobs.ts';
import { hostSource } from '../../../supervisor/cli/commands/jobs/jobs-source.ts';
import { JOBS_CHECKS } from '../../../supervisor/cli/doctor/jobs-checks.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { createHostClient } from '../../support/hosts/app-client.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

const from = process.cwd();

function cli(t: TestContext, project: TemporaryProject, client?: HostClient) {
  t.after(() => process.chdir(from)); // the commands go to the folder of the project
  return async (verb: string, args: readonly string[] = [], options: Readonly<Record<string, unknown>> = {}) => {
    const captured = capturedContext('http://127.0.0.1:1');
    const context: CommandContext = {
      ...captured,
      cwd: project.path,
      env: project.env,
      project: () => project.path,
      ...(client === undefined ? {} : { host: async () => client }),
    };
    const command = commands.find((one) => one.verb === verb);
    assert.ok(command !== undefined);
    return { code: await command.run(context, args, options), out: captured.out.join('\n') };
  };
}

const STANDUP = { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', say: 'Stand-up!', to: 'irc~libera:#web' };

describe('svc jobs without a host', () => {
  it('adds, edits, lists and removes jobs in the file', async (t) => {
    const project = temporaryProject(t);
    const svc = cli(t, project);
    const file = join(project.path, 'data', 'schedule-jobs.json');
    const jobs = () => JSON.parse(readFileSync(file, 'utf8'));

    assert.equal((await svc('add', ['standup'], { ...STANDUP, jitter: '30s', title: 'Daily' })).code, 0);
    assert.deepEqual(jobs().jobs, [
      {
        id: 'standup',
        cron: '0 9 * * 1-5',
        timezone: 'Europe/Berlin',
        jitter: '30s',
        title: 'Daily',
        do: { say: { to: { endpoint: 'irc~libera', conversation: '#web' }, text: 'Stand-up!' } },
      },
    ]);
    await assert.rejects(svc('add', ['standup'], STANDUP), /there is a job standup already/);
    await svc('edit', ['standup'], { every: '15m', unset: 'jitter,title' });
    assert.deepEqual(Object.keys(jobs().jobs[0]).toSorted(), ['do', 'every', 'id']);
    assert.equal(jobs().revision, 2);
    await assert.rejects(svc('edit', ['standup'], { unset: 'jiter' }), /did you mean jitter/);
    await assert.rejects(svc('add', ['x'], { ...STANDUP, cron: '0 25 * * *' }), /cron cannot be read/);
    await assert.rejects(svc('add', ['x'], { at: '2020-01-01T00:00', say: 'a', to: 'a:b' }), /at is in the past/);
    assert.match((await svc('list')).out, /standup \| every 15m \| 20/);
    await svc('pause', ['standup']);
    assert.match((await svc('show', ['standup'])).out, /next: paused/);
    await svc('resume', ['standup']);
    await svc('remove', ['standup']);
    assert.deepEqual(jobs().jobs, []);
  });

  it('adds and edits a job that opens an item', async (t) => {
    const project = temporaryProject(t);
    const svc = cli(t, project);
    const action = () =>
      JSON.parse(readFileSync(join(project.path, 'data', 'schedule-jobs.json'), 'utf8')).jobs[0].do as unknown;
    await svc('add', ['renew'], { cron: '0 9 1 * *', item: 'Renew the certificate', board: 'web', assign: 'ann' });

    assert.deepEqual(action(), { item: { board: 'web', title: 'Renew the certificate', assign: 'ann' } });
    await svc('edit', ['renew'], { due: '3d', board: 'ops' });
    assert.deepEqual(action(), { item: { board: 'ops', title: 'Renew the certificate', assign: 'ann', due: '3d' } });
    await svc('edit', ['renew'], { say: 'hello', to: 'irc~libera:#web' });
    assert.deepEqual(action(), { say: { to: { endpoint: 'irc~libera', conversation: '#web' }, text: 'hello' } });
    await assert.rejects(svc('edit', ['renew'], { board: 'web' }), /--board, --assign and --due belong to --item/);
    await assert.rejects(svc('add', ['x'], { every: '1h', item: 'a' }), /--board is missing/);
    await assert.rejects(svc('add', ['x'], { every: '1h', item: 'a', board: 'b', to: 'a:b' }), /--to belongs to/);
  });

  it('says when a job is due, and where daylight saving moves it', async (t) => {
    const project = temporaryProject(t);
    const svc = cli(t, project);
    await svc('add', ['night'], { ...STANDUP, cron: '30 2 * * *' });
    const { out } = await svc('next', ['night'], { lines: 2, from: '2026-03-28T12:00:00Z' });

    assert.deepEqual(out.split('\n'), [
      '2026-03-29T01:00:00.000Z  2026-03-29 03:00:00 Europe/Berlin  moved by daylight saving',
      '2026-03-30T00:30:00.000Z  2026-03-30 02:30:00 Europe/Berlin',
    ]);
  });

  it('checks a file: 0, or 78 with every fault; a list of a broken file is 1', async (t) => {
    const project = temporaryProject(t);
    const svc = cli(t, project);
    await svc('add', ['a'], STANDUP);
    assert.deepEqual(await svc('check'), { code: 0, out: 'data/schedule-jobs.json: 1 job, no fault' });
    writeFileSync(join(project.path, 'data', 'schedule-jobs.json'), '{ "version": 1,\n "jobs": [{}] }');
    const { code, out } = await svc('check');

    assert.equal(code, 78);
    assert.match(out, /^data\/schedule-jobs\.json:2:\d+ jobs\[0\] needs the key id/);
    const listed = await svc('list');
    assert.equal(listed.code, 1);
    assert.match(listed.out, /data\/schedule-jobs\.json:2:/);
  });
});

describe('svc jobs with a running host', () => {
  it('changes jobs over it, refuses a target that is not there, and waits for a run by hand', async (t) => {
    const host = await running(t);
    const client = createHostClient(host);
    const svc = cli(t, host.project, client);
    const source = hostSource(client);
    const entry = { cron: '0 0 1 1 *', do: { say: { to: { endpoint: 'sandbox', conversation: 'ann' }, text: 'hi' } } };
    const gone = { ...entry, do: { say: { to: { endpoint: 'irc~gone', conversation: 'ann' }, text: 'hi' } } };
    const put = (made: typeof entry, isForced = false) =>
      source.change('tea', { kind: 'put', entryOf: () => made, isForced });

    await assert.rejects(put(gone), /the target of tea is not there: endpoint_unknown/);
    assert.equal((await put(gone, true))?.['target'], 'endpoint_unknown');
    assert.deepEqual(await svc('run', ['tea']), { code: 1, out: 'tea is failed: endpoint_unknown' });
    assert.equal((await put(entry))?.['target'], 'there');
    assert.deepEqual(await svc('run', ['tea']), { code: 0, out: 'tea is done' });
    const { out } = await svc('history', ['tea']);
    assert.match(out, /tea \| by hand \| done/);
    assert.equal((await source.change('tea', { kind: 'pause' }))?.['paused'], true);
    assert.equal(await source.change('tea', { kind: 'remove' }), undefined);
    assert.deepEqual((await source.list()).jobs, []);
  });
});

describe('svc doctor on jobs that open items', () => {
  const targets = async (project: TemporaryProject) => {
    const loaded = loadConfig({ project: project.path, mode: 'test', environment: project.env });
    const subject = { paths: project.paths, env: project.env, config: loaded, manifest: undefined, node: '' };
    return JOBS_CHECKS.find(({ id }) => id === 'jobs.targets')?.run(subject);
  };
  const jobs = (...boards: readonly string[]) =>
    JSON.stringify({
      version: 1,
      jobs: boards.map((board) => ({ id: board, every: '1h', do: { item: { board, title: 'a' } } })),
    });

  it('names the board that is not there', async (t) => {
    const host = await running(t, { config: { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: {} } });
    await host.call('POST', '/api/workroom/commands', { kind: 'board.add', board: 'web', name: 'Web site' });
    host.project.write('data/schedule-jobs.json', jobs('web'));
    assert.deepEqual(await targets(host.project), { status: 'ok', reason: '1 job' });
    host.project.write('data/schedule-jobs.json', jobs('web', 'ops'));
    assert.deepEqual(await targets(host.project), {
      status: 'warn',
      reason: 'no board of the Workroom: ops (ops)',
      fix: 'svc workroom board add ops',
    });
  });

  it('says that a bot has no items', async (t) => {
    const project = temporaryProject(t);
    project.write('data/schedule-jobs.json', jobs('web'));
    const finding = await targets(project);
    assert.equal(finding?.reason, 'the host is no Workroom, so it has no items: web (web)');
    assert.equal(finding?.fix, 'host.kind: workroom');
  });
});
