// A host, its checkpoint, more messages, and the way back: what was parked is handled once, what was handled is not handled again, and clients are
// told of the new timeline. And a start that finds a restore which was cut.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { openSse } from '../../support/http/sse-reader.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { ENTER, terminal, terminalMissing } from '../../support/process/terminal.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';
import { svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

let program = '';
before(async () => {
  const made = await bundlePrograms(['test/support/fixture-programs/restore-step.ts'], { FAILPOINTS: 'true' });
  program = made.get('restore-step') ?? '';
});

const headersOf = ({ project }: RunningHost): Record<string, string> => ({ authorization: `Bearer ${project.token}` });

async function say(host: RunningHost, delivery: string): Promise<void> {
  const response = await fetch(`${host.url}api/chat/say`, {
    method: 'POST',
    headers: { ...headersOf(host), 'content-type': 'application/json' },
    body: JSON.stringify({ person: 'ann', text: `/echo ${delivery}`, delivery }),
  });
  assert.ok(response.ok, await response.text());
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly state: string; readonly attempts: number }[];
}
const listed = async (host: RunningHost, store: 'inbox' | 'outbox'): Promise<Listed['items']> =>
  ((await host.get(`api/${store}?limit=200`)) as Listed).items;
const statesOf = async (host: RunningHost, store: 'inbox' | 'outbox'): Promise<string> =>
  (await listed(host, store))
    .map(({ state }) => state)
    .toSorted()
    .join();

async function command(host: RunningHost, ...args: string[]) {
  const { code, stdout, stderr } = await svc(args, { cwd: host.project.path });
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

/** A checkpoint with one handled message; since then one more was handled, and one is parked. Stopped. */
async function livedOn(host: RunningHost): Promise<void> {
  await say(host, 'first');
  await until(async () => (await statesOf(host, 'outbox')) === 'sent', { what: 'the first answer' });
  await host.stop();
  await command(host, 'checkpoint', 'create');
  await host.start();
  await say(host, 'second');
  await until(async () => (await statesOf(host, 'outbox')) === 'sent,sent', { what: 'the second answer' });
  await command(host, 'ingress', 'pause');
  await say(host, 'third');
  await host.stop();
}

describe('a restore of a whole host', { timeout: 600_000 }, () => {
  it('handles what was parked once, handles nothing again, and tells clients of the new timeline', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    const client = await openSse(`${host.url}api/events`, headersOf(host));
    await client.waitFor('svc.live');
    await say(host, 'zero');
    await until(async () => (await statesOf(host, 'outbox')) === 'sent', { what: 'an answer' });
    const last = await until(() => client.lastId(), { what: 'an id' });
    const refused = await svc(['checkpoint', 'restore', 'c1'], { cwd: host.project.path });
    await host.stop();
    await command(host, 'checkpoint', 'create');
    await host.start();
    await say(host, 'second');
    await until(async () => (await statesOf(host, 'outbox')) === 'sent,sent', { what: 'the second answer' });
    await command(host, 'ingress', 'pause');
    await say(host, 'third');
    const overHttp = (await host.get('api/checkpoints/c1/plan')) as { name: string; comesAlong: unknown };
    await host.stop();

    const plan = JSON.parse(await command(host, 'checkpoint', 'restore', 'c1', '--dry-run', '--json'));
    const text = await command(host, 'checkpoint', 'restore', 'c1', '--dry-run');
    const asked = await svc(['checkpoint', 'restore', 'c1', '--yes', '--plan', 'other'], { cwd: host.project.path });
    await command(host, 'checkpoint', 'restore', 'c1', '--yes', '--plan', plan.digest);
    await host.start();
    const resumed = await openSse(`${host.url}api/events`, { ...headersOf(host), 'last-event-id': last });
    await resumed.waitFor('svc.live');
    const before = [await statesOf(host, 'inbox'), await statesOf(host, 'outbox')];
    for (const delivery of ['zero', 'second', 'third']) await say(host, delivery);
    const repeated = await statesOf(host, 'inbox');
    await command(host, 'ingress', 'resume');
    await until(async () => (await statesOf(host, 'outbox')) === 'sent,sent', {
      what: 'the parked one to be answered',
    });

    assert.match(refused.stderr, /runs as pid/);
    assert.deepEqual(plan.comesAlong, {
      received: 1,
      waitingSends: 0,
      waitingTasks: 0,
      ids: 1,
      endedItems: 0,
      endedSends: 0,
      tasks: 0,
    });
    assert.deepEqual([overHttp.name, overHttp.comesAlong], ['c1', plan.comesAlong]);
    assert.deepEqual(Object.values(plan.notUndone.sends), [1]);
    assert.match(text, /^COMES ALONG {2}1 message not handled yet, handled after resume, 1 delivery id$/m);
    assert.match(asked.stderr, /the state has changed since the plan/);
    assert.equal(resumed.find('svc.gap')?.data['reason'], 'epoch_changed');
    const restored = resumed.find('checkpoint.restored')?.data['data'] as { name: string; carried: number };
    assert.deepEqual([restored.name, restored.carried], ['c1', 2]);
    assert.deepEqual(before, ['done,done,received', 'sent']);
    assert.equal(repeated, 'done,done,received');
    assert.equal(await statesOf(host, 'inbox'), 'done,done,done');
    assert.ok((await listed(host, 'inbox')).every(({ attempts }) => attempts <= 1));
  });

  it('that was cut is finished by the next start, which ends with 75 before it binds', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    await livedOn(host);
    const env = { ...process.env, SVC_FAILPOINTS: 'restore.renamed=kill@2' };
    const cut = spawnSync(process.execPath, [program, 'restore', host.project.path], { env });
    const list = await svc(['inbox', 'list'], { cwd: host.project.path });
    const first = await svc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: host.project.path });
    await host.start();

    assert.equal(cut.signal, 'SIGKILL');
    assert.match(list.stderr, /checkpoint restore --finish/);
    assert.equal(first.code, 75, first.stderr);
    assert.match(first.stdout, /a restore is finished/);
    assert.doesNotMatch(first.stdout, /worker up/);
    assert.equal(await statesOf(host, 'inbox'), 'done,done,received');
  });

  it('that was cut before it was decided has changed nothing, and leaves nothing behind the next start', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    await livedOn(host);
    const env = { ...process.env, SVC_FAILPOINTS: 'restore.prepared=kill' };
    const cut = spawnSync(process.execPath, [program, 'restore', host.project.path], { env });
    const { stagingDir } = host.project.paths;
    const left = existsSync(stagingDir);
    await host.start();

    assert.deepEqual([cut.signal, left, existsSync(stagingDir)], ['SIGKILL', true, false]);
    assert.equal(await statesOf(host, 'inbox'), 'done,done,received');
    assert.equal(await statesOf(host, 'outbox'), 'sent,sent');
  });

  it('that was cut is finished under a daemon, whose next worker serves', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    await livedOn(host);
    const env = { ...process.env, SVC_FAILPOINTS: 'restore.decided=kill' };
    spawnSync(process.execPath, [program, 'restore', host.project.path], { env });

    await command(host, 'runtime', 'start', '--daemon', '--timeout', '120');
    const states = await statesOf(host, 'inbox');
    const { exits, state } = JSON.parse(await command(host, 'runtime', 'status', '--json'));
    const told = await command(host, 'runtime', 'status');
    await command(host, 'runtime', 'stop');

    assert.deepEqual([state, states], ['running', 'done,done,received']);
    const end = exits.at(-1);
    assert.deepEqual([end.code, end.reason], [75, 'restart_required']);
    assert.doesNotMatch(told, /crash/);
  });

  it('asks at a terminal for the name of the checkpoint', { skip: terminalMissing() }, async (t) => {
    const project = stoppedProject(t);
    await project.make();
    project.store({ fact: 'since' });

    const ends: unknown[] = [];
    for (const typed of ['c2', 'c1']) {
      const screen = terminal(t, ['checkpoint', 'restore', 'c1'], project.path);
      await screen.shows('Type c1');
      screen.type(`${typed}${ENTER}`);
      ends.push(await screen.ended, existsSync(join(project.paths.replacedDir, 's1')));
      assert.match(screen.screen(), /LOST +1 event/);
    }

    assert.deepEqual(ends, [1, false, 0, true]);
  });

  it('that cannot be finished keeps every start out with 78, and names the command', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    await livedOn(host);
    const env = { ...process.env, SVC_FAILPOINTS: 'restore.decided=kill' };
    spawnSync(process.execPath, [program, 'restore', host.project.path], { env });
    rmSync(join(host.project.paths.stateDir, 'restoring.part', 'data.sqlite'));

    const start = await svc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: host.project.path });

    assert.equal(start.code, 78);
    assert.match(start.stderr, /restoring\.part\/data\.sqlite does not exist/);
    assert.match(start.stderr, /svc checkpoint restore --finish/);
    assert.ok(existsSync(host.project.paths.pendingSwitch));
  });
});
