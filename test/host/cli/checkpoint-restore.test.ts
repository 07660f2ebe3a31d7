import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { decideSwitch } from '../../../shared/recovery/switch.ts';
import type { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../../../supervisor/cli/command.ts';
import { commands } from '../../../supervisor/cli/commands/checkpoint/restore.ts';
import type { RestartOwner } from '../../../worker/database/writer-lock.ts';
import { ownerStop } from '../../../worker/process/owner/restart-owner.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { controlStandIn, standInAt } from '../../support/commands/control-stand-in.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

const from = process.cwd();

async function restoreOf(t: TestContext) {
  t.after(() => process.chdir(from)); // the command goes to the folder of the project
  const project: StoppedProject = stoppedProject(t);
  await project.make();
  const run = async (args: readonly string[], options: Record<string, unknown> = {}) => {
    const captured = capturedContext('http://127.0.0.1:1', { json: options['json'] === true });
    const context: CommandContext = { ...captured, interactive: false, project: () => project.path };
    const [command] = commands;
    const code = await command?.run(context, args, options);
    return { code, out: captured.out, document: captured.documents[0] as Record<string, unknown> };
  };
  return { project, run };
}

describe('svc checkpoint restore', () => {
  it('restores the plan that a script has agreed to, and takes it back', async (t) => {
    const { project, run } = await restoreOf(t);
    project.store({ fact: 'since' });
    const dry = await run(['c1'], { dryRun: true, json: true });
    const text = await run(['c1'], { dryRun: true });

    const done = await run(['c1'], { yes: true, plan: dry.document['digest'] });
    const undo = await run([undefined as never], { undo: true, dryRun: true, json: true });
    const undone = await run([undefined as never], {
      undo: true,
      yes: true,
      plan: undo.document['digest'],
      json: true,
    });

    assert.match(text.out[0] ?? '', /^c1 +\S+Z, \d+ s old, never verified, svc \S+, schema \d{4}$/);
    assert.ok(
      text.out.some((line) => /^LOST +1 event$/.test(line)),
      text.out.join('\n'),
    );
    assert.deepEqual(done.out, [
      'c1 is restored; 0 items and sends came along',
      'the state before is s1: svc checkpoint restore --undo takes it back',
      'next: svc runtime start, then svc ingress resume',
    ]);
    assert.deepEqual([undone.code, undone.document['name'], undone.document['replaced']], [0, 's1', 's2']);
  });

  it('asks nobody who cannot answer, and takes no half of an agreement', async (t) => {
    const { project, run } = await restoreOf(t);
    for (const [args, options] of [
      [['c1'], {}],
      [['c1'], { yes: true }],
      [[undefined as never], {}],
      [['c1'], { undo: true }],
      [['c1'], { dryRun: true, open: 'keep' }],
      [['../c1'], { dryRun: true }],
    ] as const)
      await assert.rejects(run([...args], options), { code: 'usage' });
    assert.equal(existsSync(join(project.paths.replacedDir, 's1')), false);
  });

  it('finishes what was decided, and refuses everything else meanwhile', async (t) => {
    const { project, run } = await restoreOf(t);
    project.write('.svc/restoring.part/new', 'new');
    const renames = [{ from: '.svc/restoring.part/new', to: '.svc/new' }];
    decideSwitch(project.path, { purpose: 'restore', names: {}, renames, leftovers: ['.svc/restoring.part'] });

    await assert.rejects(run(['c1'], { dryRun: true }), { code: 'switch_pending' });
    await assert.rejects(project.make(), { code: 'switch_pending' });
    const done = await run([undefined as never], { finish: true });
    const again = await run([undefined as never], { finish: true });

    assert.equal(project.read('.svc/new'), 'new');
    assert.deepEqual(
      [done.out, again.out],
      [['the restore is finished; next: svc runtime start'], ['nothing is pending']],
    );
  });
});

/** Owner, its environment, and where its process is. */
const OWNERS: readonly (readonly [RestartOwner, Readonly<Record<string, string>>, string, RegExp])[] = [
  [
    'systemd',
    { LISTEN_FDS: '1' },
    '0::/system.slice/system-svc.slice/svc@alice.service\n',
    /: systemctl stop svc@alice\.socket svc@alice\.service;/,
  ],
  [
    'systemd',
    { LISTEN_FDS: '1' },
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/svc-bot-012345.service\n',
    /: systemctl --user stop svc-bot-012345\.socket svc-bot-012345\.service;/,
  ],
  ['launchd', { XPC_SERVICE_NAME: 'io.svc.bot-012345' }, '', /: launchctl bootout gui\/\d+\/io\.svc\.bot-012345;/],
  ['container', {}, '', /: docker stop 1a2b3c, docker compose stop, or podman stop 1a2b3c;/],
  ['container', { KUBERNETES_SERVICE_HOST: 'x' }, '', /: kubectl scale --replicas=0, for the workload/],
  ['pm2', { name: 'bot' }, '', /: pm2 stop bot;/],
  ['foreground', {}, '', /: svc runtime stop;/],
];

describe('svc checkpoint restore beside a host that runs', () => {
  const refusalOf = (run: () => Promise<unknown>): Promise<SvcError> =>
    run().then(
      () => assert.fail('it was restored'),
      (error: SvcError) => error,
    );

  it('names the command of the owner that stops it', async (t) => {
    const { project, run } = await restoreOf(t);
    const worker = await standInAt(t, join(project.path, WORKER_SOCKET), {});
    for (const [owner, environment, cgroup, expected] of OWNERS) {
      const stop = ownerStop({ owner, environment, cgroup: () => cgroup, hostname: '1a2b3c' });
      worker.say({ state: 'running', pid: 4711, owner, ownerStop: stop });

      const { code, hint, details } = await refusalOf(() => run(['c1'], { yes: true, plan: '0' }));

      assert.deepEqual([code, details], ['already_running', { pid: 4711, owner }]);
      assert.match(hint ?? '', expected, `${owner} ${cgroup}`);
      assert.match(hint ?? '', /^stop it first: .*; --dry-run prints the plan beside it$/);
    }
  });

  it('names that of svc for a daemon, also while its supervisor waits to start a worker', async (t) => {
    const { project, run } = await restoreOf(t);
    await controlStandIn(t, project.path, { state: 'backing_off' });

    const { code, hint, details } = await refusalOf(() => run(['c1']));

    assert.deepEqual([code, details], ['already_running', { pid: process.pid, owner: 'daemon' }]);
    assert.match(hint ?? '', /^stop it first: svc runtime stop;/);
  });
});
