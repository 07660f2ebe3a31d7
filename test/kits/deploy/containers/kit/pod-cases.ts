// The commands of the guide to Kubernetes: kubectl speaks to a stand-in of the cluster, and podman runs the container of the Deployment that was applied.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { type Pod, podOf } from '../../../../support/containers/as-kubelet.ts';
import type { BotProject } from '../../../../support/containers/deployed-bot.ts';
import type { Engine } from '../../../../support/containers/engine.ts';
import { filledIn } from '../../../../support/containers/guide-lines.ts';
import { type ClusterStandIn, clusterStandIn } from '../../../../support/deploy/cluster-stand-in.ts';
import { guideLines } from '../../../../support/deploy/guide-blocks.ts';
import { kubectlMissing, shellTo } from '../../../../support/deploy/kubectl.ts';
import { at, type Manifest } from '../../../../support/deploy/manifests.ts';
import { ToReady } from '../../../../support/deploy/to-ready.ts';
import { wordsOf } from '../../../../support/guide-commands.ts';
import { svc } from '../../../../support/svc-command.ts';
import { until } from '../../../../support/until.ts';

const PAGE = 'kubernetes.md';
/** That the commands of the guide build and push. */
const IMAGE = 'registry.example/bot:1';
const NAME = 'pod';

export interface PodSubject {
  readonly engine: Engine;
  readonly bot: BotProject;
  readonly folder: string;
}

export function podCases(subject: () => PodSubject): void {
  it('runs as a pod does, and is restored in one, by the commands of the guide', {
    skip: kubectlMissing(),
  }, async (t) => {
    const { engine, bot, folder } = subject();
    const cluster = await clusterStandIn(t, folder);
    const toReady = new ToReady('kubernetes', 'a project, base images and a stand-in of a cluster');
    for (const line of guideLines(PAGE, 'first'))
      await toReady.typed([line], () => typeFirst(line, { engine, bot, folder, cluster }));
    const { Deployment, Secret } = cluster.kept();
    assert.ok(Deployment !== undefined && Secret !== undefined);
    const image = String(at(Deployment, 'spec.template.spec.containers.0.image'));
    assert.equal(image, IMAGE);
    const envFile = join(folder, 'secret');
    writeFileSync(envFile, lettersOf(Secret), { mode: 0o600 });
    const podOn = (volumes: string): Promise<Pod> => {
      const place = join(folder, volumes);
      mkdirSync(place);
      return podOf(engine, Deployment, { folder: place, image, name: NAME, envFile });
    };
    const inPod = (words: string): Promise<string> => engine.must(`podman exec ${NAME} ${words}`);
    const ready = async (): Promise<void> => {
      const path = at(Deployment, 'spec.template.spec.containers.0.readinessProbe.httpGet.path');
      const probe = `node -e "fetch('http://127.0.0.1:8068${path}').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"`;
      await until(async () => (await engine.run(`podman exec ${NAME} ${probe}`)).code === 0, { what: 'the pod' });
    };
    let pod = await podOn('volumes');
    await toReady.waited(async () => {
      await pod.start();
      await ready();
    });
    toReady.tell(t);

    const facts = await inPod(
      'sh -c \'id; grep -hE "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status; stat -c "%a %u %g" .svc data\'',
    );
    assert.match(facts, /^uid=10001\S* gid=10001/u);
    assert.match(facts, /CapEff:\s+0{16}\nNoNewPrivs:\s+1\nSeccomp:\s+2\n2775 0 10001\n2775 0 10001$/u);
    assert.match((await engine.run(`podman exec ${NAME} touch /app/written`)).stderr, /Read-only file system/u);

    const type = async (...names: readonly string[]): Promise<string> => {
      const said: string[] = [];
      for (const line of names.flatMap((name) => guideLines(PAGE, name)))
        said.push(await typeInPod(filledIn(line, said)));
      return said.join('\n');
    };
    /** kubelet's side of `patch` and `undo` is another container on the same volume. One that sleeps hears no SIGTERM. */
    const typeInPod = async (line: string): Promise<string> => {
      const [, command] = /^kubectl (?:exec|rollout|patch) (.*)$/u.exec(line) ?? [];
      assert.ok(command !== undefined, line);
      if (line.startsWith('kubectl exec'))
        return engine.must(line.replace(/^kubectl exec (-i )?deployment\/<name> -- /u, `podman exec $1${NAME} `), {
          cwd: folder,
        });
      if (command.startsWith('status')) return '';
      if (command.startsWith('undo')) {
        await pod.kill();
        await pod.start();
        await ready();
      } else {
        assert.equal(await pod.stop(), '0', line);
        await pod.start(sleepOf(line));
      }
      return '';
    };
    await type('keep');
    assert.match(await type('look', 'restore'), /c1 is restored/u);
    assert.equal(await pod.stop(), '0');

    pod = await podOn('new-volumes');
    await pod.start(sleepOf(guideLines(PAGE, 'look')[0] ?? ''));
    assert.match(await type('bring-in'), /c1 is c1 of/u);
    await pod.kill();
  });
}

/** The command that the patch of the guide gives the container. */
function sleepOf(line: string): readonly string[] {
  const patch = JSON.parse(/--patch '(.*)'$/u.exec(line)?.[1] ?? '') as unknown;
  return at(patch, 'spec.template.spec.containers.0.command') as readonly string[];
}

const lettersOf = (secret: Manifest): string =>
  Object.entries(at(secret, 'data') as Readonly<Record<string, string>>)
    .map(([name, value]) => `${name}=${Buffer.from(value, 'base64').toString()}\n`)
    .join('');

interface First extends PodSubject {
  readonly cluster: ClusterStandIn;
}

/** No registry is there: the image is pushed into a folder. */
async function typeFirst(line: string, { engine, bot, folder, cluster }: First): Promise<void> {
  if (line.startsWith('svc ')) {
    const { code, stderr } = await svc(wordsOf(line).slice(1), { cwd: bot.path });
    assert.equal(code, 0, stderr);
  } else if (line.startsWith('docker push '))
    await engine.must(`${line.replace('docker', 'podman')} dir:${join(folder, 'pushed')}`);
  else if (line.startsWith('docker ')) await engine.must(line.replace('docker', 'podman'), { cwd: bot.path });
  else await shellTo(cluster, bot.path, line);
  // What kubectl keeps of a cluster would go into the next image.
  rmSync(join(bot.path, '.kube'), { recursive: true, force: true });
}
