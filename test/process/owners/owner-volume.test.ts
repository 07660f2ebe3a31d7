// A host in a pod: its state on a volume as kubelet mounts it (root:10001 2775), and a second pod on the same volume. Needs root.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { at, manifestsOf } from '../../support/deploy/manifests.ts';
import { smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { otherUserMissing } from '../../support/owners/other-user.ts';
import { type First, firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { CLI, portProject } from '../../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../../support/temporary-project.ts';

const NEEDS = { skip: namespaceMissing() || smallDiskMissing() || otherUserMissing() };
const POD_USER = 10_001;
const NOTE = 'is a mounted volume that others may list (mode 2775)';

const AS_USER = ['setpriv', `--reuid=${POD_USER}`, `--regid=${POD_USER}`, '--clear-groups'];

/** Makes the project a root file system that is only read, with the two folders of the volume as subPaths, then becomes the command. */
const MOUNT = `mount --rbind "$2" "$2" && mount --bind "$1/svc" "$2/.svc" && mount --bind "$1/data" "$2/data" &&
  mount -o remount,ro,bind "$2" && cd "$2" && shift 2 && exec ${AS_USER.join(' ')} "$@"`;

const environment = ({ token }: TemporaryProject) => ({ HTTP_TOKEN: token, KUBERNETES_SERVICE_HOST: '10.0.0.1' });

interface Volume {
  readonly project: TemporaryProject & { readonly url: string };
  readonly disk: string;
  readonly state: string;
  /** A host, or another command of svc in a pod of its own. */
  pod(...command: readonly string[]): First;
}

/** An image whose code is root's, without .env, and a volume with the rights that kubelet gives folders for a subPath. */
async function volume(t: Cleanup): Promise<Volume> {
  const project = await portProject(t);
  const disk = join(project.path, 'volume');
  smallDisk(t, disk, { kilobytes: 2 * 1_048_576 });
  for (const folder of ['svc', 'data']) {
    mkdirSync(join(disk, folder));
    chownSync(join(disk, folder), 0, POD_USER);
    chmodSync(join(disk, folder), 0o2775);
  }
  for (const folder of [project.paths.stateDir, project.paths.dataDir]) mkdirSync(folder, { recursive: true });
  chmodSync(disk, 0o755);
  chmodSync(project.path, 0o755);
  rmSync(project.paths.env);
  return {
    project,
    disk,
    state: join(disk, 'svc'),
    pod: (...command) => {
      const words = command.length === 0 ? hostCommand(project.path) : [process.execPath, CLI, ...command];
      return firstProcess(t, ['sh', '-c', MOUNT, 'sh', disk, project.path, ...words], {
        env: environment(project),
      });
    },
  };
}

describe('a host on a volume as kubelet mounts it', NEEDS, () => {
  it('runs, says so in one line, and keeps its files to itself', async (t) => {
    const { project, state, pod } = await volume(t);
    const first = pod();
    await says(first, 'worker up');

    assert.equal((await fetch(`${project.url}/pub/ready`)).status, 200);
    assert.equal(first.output().split(NOTE).length - 1, 1, first.output());
    const open = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (statSync(join(state, name)).mode & 0o077) !== 0 || statSync(join(state, name)).uid !== POD_USER,
    );
    assert.deepEqual(open, []);
    process.kill(await first.pid(), 'SIGTERM');
    assert.equal((await first.ended).code, 0);
  });

  it('runs on a volume that everybody may write where the folders were made by the patch for it', async (t) => {
    const { project, disk, state, pod } = await volume(t);
    rmSync(state, { recursive: true });
    rmSync(join(disk, 'data'), { recursive: true });
    chmodSync(disk, 0o777);
    const patch = readFileSync(join(import.meta.dirname, '../../../deploy/kubernetes/open-volume.yaml'), 'utf8');
    const [deployment] = manifestsOf(patch.replaceAll('@NAME@', 'bot'));
    const command = at(deployment, 'spec.template.spec.initContainers.0.command') as readonly string[];
    const mount = String(at(deployment, 'spec.template.spec.initContainers.0.volumeMounts.0.mountPath'));
    const words = command.map((word) => word.replaceAll(`${mount}/`, `${disk}/`));

    const made = spawnSync(AS_USER[0] ?? '', [...AS_USER.slice(1), ...words], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    const first = pod();
    await says(first, 'worker up');

    assert.equal((await fetch(`${project.url}/pub/ready`)).status, 200);
    assert.doesNotMatch(first.output(), /mounted volume that others may list/);
    process.kill(await first.pid(), 'SIGTERM');
    assert.equal((await first.ended).code, 0);
  });

  it('ends where others may write into it', async (t) => {
    const { state, pod } = await volume(t);
    chmodSync(state, 0o2777);
    const { code, stdout, stderr } = await pod().ended;
    assert.equal(code, 1, stdout);
    assert.match(stdout + stderr, /is open to others \(mode 0777\)/);
  });
});

/** As `kubectl exec`: a command of svc in the pod of a host. */
async function exec(first: First, project: TemporaryProject, ...command: readonly string[]) {
  const inside = ['--target', String(await first.pid()), '--pid', '--mount', `--wdns=${project.path}`];
  const words = [...inside, ...AS_USER, process.execPath, CLI, ...command];
  const { status, stdout, stderr } = spawnSync('nsenter', words, {
    encoding: 'utf8',
    env: { HOME: '/nonexistent', ...environment(project) },
  });
  return { code: status, said: stdout + stderr };
}

describe('a pod whose root is only read', NEEDS, () => {
  it('makes a checkpoint by exec, which a pod of its own restores', async (t) => {
    const { project, pod } = await volume(t);
    const first = pod();
    await says(first, 'worker up');

    for (const command of [
      ['checkpoint', 'create'],
      ['checkpoint', 'export', 'c1', '--to', 'data/c1.tar.gz'],
      ['runtime', 'status'],
    ]) {
      const { code, said } = await exec(first, project, ...command);
      assert.equal(code, 0, said);
    }
    process.kill(await first.pid(), 'SIGTERM');
    await first.ended;
    const plan = await pod('checkpoint', 'restore', 'c1', '--dry-run', '--json').ended;
    const { digest } = JSON.parse(plan.stdout);
    const restored = await pod('checkpoint', 'restore', 'c1', '--yes', '--plan', digest).ended;

    assert.equal(restored.code, 0, restored.stdout + restored.stderr);
    const next = pod();
    await says(next, 'worker up');
    assert.match((await exec(next, project, 'ingress', 'status')).said, /paused/);
    process.kill(await next.pid(), 'SIGTERM');
    assert.equal((await next.ended).code, 0);
  });
});

describe('a second pod on the same volume', NEEDS, () => {
  it('is refused, names no pid, and leaves the restart window of the first alone', async (t) => {
    const { project, state, pod } = await volume(t);
    const first = pod();
    await says(first, 'worker up');
    const window = (): string => readFileSync(join(state, 'restart-window.json'), 'utf8');
    const before = window();

    for (const found of ['by its socket', 'by its lock alone, as on another node']) {
      if (found !== 'by its socket') rmSync(join(state, 'worker.sock'));
      const { code, stdout, stderr } = await pod().ended;
      assert.equal(code, 1, found);
      assert.match(stdout + stderr, /already running in another container, started by container/, found);
      assert.doesNotMatch(stderr, /\bpid \d/, found);
      assert.equal(window(), before, found);
    }

    assert.equal((await fetch(`${project.url}/pub/ready`)).status, 200);
    process.kill(await first.pid(), 'SIGKILL');
    await first.ended;
    const next = pod();
    await says(next, 'worker up');
    assert.equal(JSON.parse(window()).starts.length, 2, 'its own two');
    process.kill(await next.pid(), 'SIGTERM');
    assert.equal((await next.ended).code, 0);
  });
});
