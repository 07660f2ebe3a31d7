// `status`, `reload`, `restart` and `logs` over the worker's own socket, what `doctor` says, and who is refused: under launchd, in a container and under
// PM2, each as its variables and its place make it, with a shell that starts the worker again unless it ended with 0. Under systemd: test/kits/owners.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type First, firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { type Ended, portProject, svc } from '../../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

interface Owner {
  readonly name: string;
  /** What runs the worker once, before its command line. */
  readonly runs: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its own command for a stop. */
  readonly stop: RegExp;
}

const OWNERS: readonly Owner[] = [
  {
    name: 'launchd',
    runs: '',
    env: { XPC_SERVICE_NAME: 'io.svc.bot-012345' },
    stop: /launchctl bootout gui\/\d+\/io\.svc\.bot-012345/,
  },
  { name: 'container', runs: 'unshare --pid --fork --mount-proc --kill-child', env: {}, stop: /docker stop/ },
  { name: 'pm2', runs: '', env: { pm_id: '3', name: 'my-bot', PM2_HOME: '/nonexistent' }, stop: /pm2 stop my-bot/ },
];

interface Kept {
  readonly project: TemporaryProject & { readonly url: string };
  readonly first: First;
  run(...args: readonly string[]): Promise<Ended>;
  status(): Promise<Readonly<Record<string, unknown>>>;
}

async function keptUp(t: Cleanup, { runs, env }: Owner): Promise<Kept> {
  let kept: First | undefined;
  t.after(() => kept?.end()); // before the project goes: what is ended would be started again
  const project = await portProject(t);
  const loop = `until ${runs} "$@"; do :; done`;
  const first = firstProcess(t, ['sh', '-c', loop, 'sh', ...hostCommand(project.path)], { env });
  kept = first;
  await says(first, 'worker up');
  const run = (...args: readonly string[]): Promise<Ended> => svc(args, { cwd: project.path });
  await until(async () => (await run('runtime', 'status')).code === 0, { what: 'ready', everyMs: 100 });
  return { project, first, run, status: async () => JSON.parse((await run('runtime', 'status', '--json')).stdout) };
}

for (const owner of OWNERS)
  describe(`a worker whose owner is ${owner.name}`, { skip: namespaceMissing() }, () => {
    it('tells its state, whose it is, and that it has bound its address by itself', async (t) => {
      const { status, run } = await keptUp(t, owner);

      const { owner: told, state, socket } = await status();

      assert.deepEqual({ told, state, socket }, { told: owner.name, state: 'running', socket: 'worker' });
      assert.match((await run('runtime', 'status')).stdout, /bound by the worker/);
    });

    it('takes a reload in', async (t) => {
      const { status, run } = await keptUp(t, owner);
      const before = Number((await status())['generation']);

      const { code, stderr } = await run('runtime', 'reload');

      assert.equal(code, 0, stderr);
      assert.equal(Number((await status())['generation']), before + 1);
    });

    it('ends with 51 for a restart, which returns when its owner has started another one', async (t) => {
      const { status, run, first } = await keptUp(t, owner);
      const { runtimeId } = await status();

      const { code, stderr } = await run('runtime', 'restart');

      assert.equal(code, 0, stderr);
      const after = await status();
      assert.notEqual(after['runtimeId'], runtimeId);
      assert.equal(after['ready'], true);
      assert.match(first.output(), /"code":51/);
    });

    it('shows its log', async (t) => {
      const { run } = await keptUp(t, owner);

      const { code, stdout, stderr } = await run('runtime', 'logs', '-n', '200');

      assert.equal(code, 0, stderr);
      assert.match(stdout, /worker up/);
    });

    it('is the one owner: doctor names it; a second start and a stop are refused with its name and its command', async (t) => {
      const { run, project } = await keptUp(t, owner);

      const doctor = await run('doctor', '--only', 'owner.single', '--json');
      assert.equal(doctor.code, 0, doctor.stdout);
      assert.match(JSON.parse(doctor.stdout).checks[0].reason, new RegExp(`^${owner.name}, pid \\d+`));
      for (const args of [['--daemon'], ['--mode', 'production', '--no-watch']]) {
        const { code, stderr } = await run('runtime', 'start', ...args);
        assert.equal(code, 1);
        assert.match(stderr, new RegExp(`started by ${owner.name}`));
        assert.match(stderr, owner.stop);
      }
      const stop = await run('runtime', 'stop');
      assert.equal(stop.code, 1);
      assert.match(stop.stderr, owner.stop);
      assert.equal((await fetch(`${project.url}/pub/health`)).status, 200);
    });
  });
