// A host in a pod: its state on a volume as kubelet mounts it (root:10001 2775), and a second pod on the same volume. Needs root.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { otherUserMissing } from '../../support/owners/other-user.ts';
import { type First, firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { portProject } from '../../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../../support/temporary-project.ts';

const NEEDS = { skip: namespaceMissing() || smallDiskMissing() || otherUserMissing() };
const POD_USER = 10_001;
const NOTE = 'is a mounted volume that others may list (mode 2775)';

/** Mounts the two folders of the volume as subPaths, then becomes the host. */
const MOUNT = `mount --bind "$1/svc" "$2/.svc" && mount --bind "$1/data" "$2/data" && shift 2 &&
  exec setpriv --reuid=${POD_USER} --regid=${POD_USER} --clear-groups "$@"`;

interface Volume {
  readonly project: TemporaryProject & { readonly url: string };
  readonly state: string;
  pod(): First;
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
    state: join(disk, 'svc'),
    pod: () =>
      firstProcess(t, ['sh', '-c', MOUNT, 'sh', disk, project.path, ...hostCommand(project.path)], {
        env: { HTTP_TOKEN: project.token, KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      }),
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

  it('ends where others may write into it', async (t) => {
    const { state, pod } = await volume(t);
    chmodSync(state, 0o2777);
    const { code, stdout, stderr } = await pod().ended;
    assert.equal(code, 1, stdout);
    assert.match(stdout + stderr, /is open to others \(mode 0777\)/);
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
