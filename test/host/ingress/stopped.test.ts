// `svc ingress` while the host is stopped: the database is read and changed, and the next start begins with it.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { commands } from '../../../supervisor/cli/commands/ingress.ts';
import { acquireWriterLock } from '../../../worker/database/writer-lock.ts';
import { definePlugin } from '../../../worker/sdk/index.ts';
import { assembleOnce } from '../../../worker/task.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import type { EngineHost } from '../../support/hosts/engine-host.ts';
import { entry, jobsHost } from '../../support/hosts/jobs-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const clerk = definePlugin({
  name: 'clerk',
  setup(p) {
    p.on('message', {}, (_ctx, { text }) => `did ${text}`);
  },
});

type Place = Pick<EngineHost['project'], 'path' | 'env'>;

/** `svc ingress` with these words in a project whose host is stopped. */
async function ingress({ path, env }: Place, verb: string, options: Readonly<Record<string, unknown>> = {}) {
  const stopped = new SvcError('not_running', 'nothing is running here');
  const captured = capturedContext('', { json: options['json'] === true });
  const context = { ...captured, env, project: () => path, host: () => Promise.reject(stopped) };
  const command = commands.find((one) => one.verb === verb);
  const code = await command?.run(context, [], options);
  return { code, out: captured.out, notes: captured.notes, json: captured.documents[0] };
}

async function stoppedHost(t: TestContext) {
  const jobs = [entry('tea', { every: '10m', from: '2026-01-01T12:00Z' })];
  const made = await jobsHost(t, { jobs, modules: { clerk } });
  await made.host.engine.gate.set({ state: 'paused', mode: 'park' }, 'op');
  await made.host.platform.says('parked');
  await made.host.advance(25 * 60_000);
  await made.jobs.stop();
  await made.host.stop();
  chmodSync(made.host.project.paths.stateDir, 0o700);
  return made;
}

describe('svc ingress without a host', () => {
  it('pauses and resumes in the database with an event, and the next start begins nothing, or all', async (t) => {
    const made = await stoppedHost(t);
    const { project, platform } = made.host;
    const before = await ingress(project, 'status');
    const paused = await ingress(project, 'pause', { mode: 'reject', reason: 'a move', wait: '60s' });
    const still = await made.restart();
    await still.host.quiet();
    const whilePaused = platform.said('dm-ann');
    const { state, mode, reason, by } = still.host.engine.gate.known();
    const events = still.host.events('ingress.paused').map(({ data }) => [data['mode'], data['reason']]);
    await still.jobs.stop();
    await still.host.stop();

    const resumed = await ingress(project, 'resume');
    const next = await still.restart();
    await next.host.advance(1_000);

    assert.deepEqual(
      [before.code, before.out[0], before.out.includes('parked: 1 items')],
      [1, 'ingress is paused (park)', true],
    );
    assert.deepEqual([paused.code, paused.notes], [0, ['nothing is running here: using .svc/data.sqlite']]);
    assert.deepEqual([state, mode, reason, by, whilePaused], ['paused', 'reject', 'a move', 'offline', []]);
    assert.deepEqual(events, [
      ['park', null],
      ['reject', 'a move'],
    ]);
    assert.deepEqual([resumed.code, resumed.out], [0, ['ingress is open']]);
    assert.deepEqual(platform.said('dm-ann'), ['did parked']);
    assert.deepEqual(
      next.host.events('ingress.resumed').map(({ data }) => data),
      [{ parked: 1, automatic: false }],
    );
    assert.equal(next.ledger().filter(({ state: end }) => end !== 'missed').length, 1);
  });

  it('says what a resume would begin, and changes nothing', async (t) => {
    const made = await stoppedHost(t);
    const { project } = made.host;
    const { code, json } = await ingress(project, 'resume', { dryRun: true, json: true });
    const { items, jobs } = json as {
      readonly items: readonly { readonly endpoint: string }[];
      readonly jobs: readonly object[];
    };
    const table = await ingress(project, 'resume', { dryRun: true });
    const after = await ingress(project, 'status');

    assert.deepEqual([code, items.map(({ endpoint }) => endpoint), after.code], [0, ['root/memory:memory~a'], 1]);
    assert.equal(jobs.length, 1);
    assert.match(table.out.join('\n'), /^what \| of \| count \| since\narrival \| root\/memory:memory~a \| 1 \| 2026/);
  });

  it('is refused beside a host that is up and silent: nothing is read or changed', async (t) => {
    const made = await stoppedHost(t);
    const { project } = made.host;
    const lock = acquireWriterLock(project.paths, {
      runtimeId: newRuntimeId(),
      owner: 'foreground',
      mode: 'production',
    });
    for (const verb of ['pause', 'resume', 'status'])
      await assert.rejects(ingress(project, verb), {
        code: 'already_running',
        message: 'the host is up and does not answer: nothing was read or changed',
      });
    lock.release();

    assert.equal((await ingress(project, 'status')).out[0], 'ingress is paused (park)');
  });

  it('is left alone by a start with --once, which begins nothing of what is parked', async (t) => {
    const made = await stoppedHost(t);
    const { path: project, env: environment, paths } = made.host.project;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const http = { port: 0, token: '${HTTP_TOKEN}' };
    const plugins = { sandbox: {}, echo: {} };
    made.host.project.write('svc.config.yml', JSON.stringify({ host: { name: 'test' }, http, plugins }));
    const before = readFileSync(paths.database);
    const report = await assembleOnce({ project, environment, mode: 'test' });

    assert.deepEqual([report.ok, report.faults], [true, []]);
    assert.deepEqual(readFileSync(paths.database), before);
    assert.deepEqual(made.host.platform.calls, []);
  });

  it('says that nothing runs where there is no database yet', async (t) => {
    const project = temporaryProject(t);

    await assert.rejects(ingress(project, 'pause'), { code: 'not_running' });
  });
});
