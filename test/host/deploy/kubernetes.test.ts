// `svc deploy init kubernetes`: what it writes, what it refuses, and our rules for the manifests, each with a manifest that breaks it.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { loadConfig } from '../../../shared/config/load.ts';
import { headOf, templateHash } from '../../../supervisor/cli/deploy/template.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';
import { faultsOf, RULES } from '../../support/deploy/kubernetes-rules.ts';
import { valueFaults } from '../../support/deploy/kubernetes-types.ts';
import { at, manifestsOf, ofKind } from '../../support/deploy/manifests.ts';
import { changedManifests, KUBERNETES, writtenManifests } from '../../support/deploy/written-manifests.ts';
import { running } from '../../support/hosts/app-host.ts';

const FILES = [
  'resources.yaml',
  'kustomization.yaml',
  'rwo.yaml',
  'open-volume.yaml',
  'network-policy/kustomization.yaml',
  'network-policy/policy.yaml',
].map((name) => `${KUBERNETES}/${name}`);
const CONTAINER = 'spec.template.spec.containers.0';
const POD = 'spec.template.spec';

describe('svc deploy init kubernetes', () => {
  it('writes the manifests under the name of the package, with a head each', async (t) => {
    const folder = deployFolder(t);
    const { actions, next, notes } = await runDeploy(folder, 'kubernetes');

    assert.deepEqual(actions, Object.fromEntries(FILES.map((path) => [path, 'made'])));
    for (const path of FILES) {
      const text = readFileSync(join(folder, path), 'utf8');
      assert.equal(headOf(text)?.hash, templateHash(path.slice('deploy/'.length)), path);
      assert.doesNotMatch(text, new RegExp(`${folder}|@[A-Z]+@|:latest`), path);
    }
    const { manifests } = await writtenManifests(t);
    assert.deepEqual([...new Set(manifests.map(({ metadata }) => metadata.name))], ['acme-my-bot']);
    assert.deepEqual(
      manifests.map(({ kind }) => kind),
      ['PersistentVolumeClaim', 'Deployment', 'Service', 'NetworkPolicy'],
    );
    assert.equal(next.length <= 4, true);
    assert.match(next[0] ?? '', /^kubectl create secret generic svc-secrets --from-env-file=\.env .*\| kubectl apply/);
    assert.match(notes.join('\n'), /kubectl rollout restart deployment\/acme-my-bot/);
  });

  it('takes another name with --name', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'kubernetes', { name: 'second' });
    const [claim] = manifestsOf(readFileSync(join(folder, KUBERNETES, 'resources.yaml'), 'utf8'));
    assert.equal(claim?.metadata.name, 'second');
  });

  it('waits for the drain that the project has', async (t) => {
    const grace = async (more: string): Promise<unknown> => {
      const folder = deployFolder(t);
      appendFileSync(join(folder, 'svc.config.yml'), more);
      await runDeploy(folder, 'kubernetes');
      const manifests = manifestsOf(readFileSync(join(folder, KUBERNETES, 'resources.yaml'), 'utf8'));
      return at(ofKind(manifests, 'Deployment')[0], `${POD}.terminationGracePeriodSeconds`);
    };

    assert.deepEqual([await grace(''), await grace('supervisor:\n  stopTimeoutSeconds: 60\n')], [30, 65]);
  });

  it('lets Prometheus in where the marks are taken away from its entry', async (t) => {
    const { folder, manifests } = await writtenManifests(t);
    const text = readFileSync(join(folder, KUBERNETES, 'network-policy/policy.yaml'), 'utf8');
    const [policy] = manifestsOf(
      text.replaceAll(/^( +)# (- namespaceSelector:| {4}matchLabels:| {6}kubernetes\.io)/gmu, '$1$2'),
    );
    const others = manifests.filter(({ kind }) => kind !== 'NetworkPolicy');
    const namespaces = (at(policy, 'spec.ingress.0.from') as readonly unknown[]).map((one) =>
      Object.values(at(one, 'namespaceSelector.matchLabels') as object),
    );

    assert.ok(policy !== undefined);
    assert.deepEqual(namespaces, [['ingress-nginx'], ['monitoring']]);
    assert.deepEqual(faultsOf([...others, policy]), []);
    assert.deepEqual(await valueFaults([policy]), []);
  });

  it('writes no value of .env', async (t) => {
    const folder = deployFolder(t);
    writeFileSync(join(folder, '.env'), 'HTTP_TOKEN=canary-8fK2xW1qZ9\nIRC_PASSWORD=canary-8fK2xW1qZ9\n', {
      mode: 0o600,
    });
    await runDeploy(folder, 'kubernetes');
    for (const path of FILES) assert.doesNotMatch(readFileSync(join(folder, path), 'utf8'), /canary/);
  });

  it('refuses a host that no pod could reach or find ready, and writes nothing', async (t) => {
    const config = (http: string): string => `http: { ${http}, token: "\${HTTP_TOKEN}" }\n`;
    const cases = [
      { change: { config: config('host: 127.0.0.1, port: "${HTTP_PORT:-8068}"') }, says: /http\.host .* no reference/ },
      { change: { config: config('host: "${HTTP_HOST:-127.0.0.1}", port: 8068') }, says: /http\.port .* no reference/ },
      { change: { config: config('host: "${BIND}"') }, says: /http\.host .* no reference to HTTP_HOST/ },
      { change: { locked: { version: '0.0.9' } }, says: /svc 0\.0\.9, which has no \/pub\/ready/ },
      { change: { locked: { version: undefined } }, says: /does not say which svc/ },
    ];
    for (const { change, says } of cases) {
      const folder = deployFolder(t, change);
      await assert.rejects(runDeploy(folder, 'kubernetes'), { code: 'refused', message: says });
      assert.equal(existsSync(join(folder, 'deploy')), false);
    }
  });

  it('has the variables of the pod win: every address, and the port that the probes ask', async (t) => {
    const { folder, manifests } = await writtenManifests(t);
    const [deployment] = ofKind(manifests, 'Deployment');
    const env = at(deployment, `${CONTAINER}.env`) as readonly { readonly name: string; readonly value: string }[];
    const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));

    const { config } = loadConfig({
      project: folder,
      mode: 'production',
      environment: { HTTP_TOKEN: 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1', ...given },
    });

    const ports = [
      at(deployment, `${CONTAINER}.ports.0.containerPort`),
      at(ofKind(manifests, 'Service')[0], 'spec.ports.0.port'),
    ];
    assert.equal(config.http.host, '0.0.0.0');
    assert.deepEqual(ports, [config.http.port, config.http.port]);
  });

  it('runs the image of the same project: its user, its folder, its port, its memory', async (t) => {
    const { folder, manifests } = await writtenManifests(t);
    await runDeploy(folder, 'compose');
    const image = readFileSync(join(folder, 'Dockerfile'), 'utf8');
    const last = (word: string): string => [...image.matchAll(new RegExp(`^${word} (.*)$`, 'gm'))].at(-1)?.[1] ?? '';
    const [deployment] = ofKind(manifests, 'Deployment');
    const inPod = (path: string): unknown => at(deployment, `${POD}.securityContext.${path}`);

    assert.equal(last('USER'), `${inPod('runAsUser')}:${inPod('runAsGroup')}`);
    // Both run the same command of the same image.
    const { mem_limit: memory } = parse(readFileSync(join(folder, 'compose.yml'), 'utf8')).services.svc;
    const handbook = readFileSync(join(import.meta.dirname, '../../../deploy/guide/handbook.md'), 'utf8');
    assert.deepEqual([memory, at(deployment, `${CONTAINER}.resources.limits.memory`)], ['1g', '1Gi']);
    assert.match(handbook, /^Give a container 1 GiB, as /mu);
    assert.equal(last('EXPOSE'), String(at(deployment, `${CONTAINER}.ports.0.containerPort`)));
    for (const mount of [0, 1])
      assert.equal(dirname(String(at(deployment, `${CONTAINER}.volumeMounts.${mount}.mountPath`))), last('WORKDIR'));
  });

  it('probes paths at which a running host answers 200', async (t) => {
    const { manifests } = await writtenManifests(t);
    const host = await running(t);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const path = at(ofKind(manifests, 'Deployment')[0], `${CONTAINER}.${probe}.httpGet.path`);
      const { status } = await fetch(`http://127.0.0.1:${host.app.address()?.port}${path}`);
      assert.equal(status, 200, probe);
    }
  });
});

describe('the rules for manifests', () => {
  /** Of each rule, what breaks it: kind, path, other value. */
  const breaks: Readonly<Record<string, readonly (readonly [kind: string, path: string, value: unknown])[]>> = {
    'runs as a user that is not root': [
      ['Deployment', `${POD}.securityContext.runAsUser`, 0],
      ['Deployment', `${POD}.securityContext.runAsUser`, 'svc'],
      ['Deployment', `${POD}.securityContext.runAsNonRoot`, undefined],
    ],
    'has the seccomp profile of the runtime': [
      ['Deployment', `${POD}.securityContext.seccompProfile.type`, 'Unconfined'],
    ],
    'gains no rights': [
      ['Deployment', `${CONTAINER}.securityContext.allowPrivilegeEscalation`, undefined],
      ['Deployment', `${CONTAINER}.securityContext.privileged`, true],
    ],
    'has no capability': [
      ['Deployment', `${CONTAINER}.securityContext.capabilities.drop`, ['NET_RAW']],
      ['Deployment', `${CONTAINER}.securityContext.capabilities.add`, ['NET_BIND_SERVICE']],
    ],
    'has a root file system that is only read': [
      ['Deployment', `${CONTAINER}.securityContext.readOnlyRootFilesystem`, false],
    ],
    'shares nothing with its node': [
      ['Deployment', `${POD}.hostNetwork`, true],
      ['Deployment', `${POD}.volumes.1.hostPath`, { path: '/' }],
      ['Deployment', `${CONTAINER}.ports.0.hostPort`, 8068],
    ],
    'has no token of the cluster and no variables of its neighbours': [
      ['Deployment', `${POD}.automountServiceAccountToken`, undefined],
      ['Deployment', `${POD}.enableServiceLinks`, undefined],
    ],
    'is one, and the old one is gone before the new one starts': [
      ['Deployment', 'spec.replicas', 2],
      ['Deployment', 'spec.strategy.type', 'RollingUpdate'],
    ],
    'has a limit of memory and none of CPU': [
      ['Deployment', `${CONTAINER}.resources.limits.memory`, undefined],
      ['Deployment', `${CONTAINER}.resources.limits.cpu`, '1'],
    ],
    'may drain': [['Deployment', `${POD}.terminationGracePeriodSeconds`, 5]],
    'keeps its state on one claim, whose files stay private': [
      ['Deployment', `${CONTAINER}.volumeMounts.1.name`, 'tmp'],
      ['Deployment', `${CONTAINER}.volumeMounts.1.subPath`, 'svc'],
      ['Deployment', `${POD}.volumes.0.persistentVolumeClaim.claimName`, 'other'],
      ['Deployment', `${POD}.securityContext.fsGroup`, undefined],
      ['Deployment', `${POD}.securityContext.fsGroupChangePolicy`, 'Always'],
    ],
    'has a claim for one pod': [['PersistentVolumeClaim', 'spec.accessModes', ['ReadWriteMany']]],
    'takes secrets from svc-secrets and has none in its files': [
      ['Service', 'kind', 'Secret'],
      ['Service', 'kind', 'ConfigMap'],
      ['Deployment', `${CONTAINER}.envFrom`, undefined],
      ['Deployment', `${CONTAINER}.env.0.name`, 'HTTP_TOKEN'],
    ],
    'is probed at the paths of a host, long enough for a migration': [
      ['Deployment', `${CONTAINER}.livenessProbe.httpGet.path`, '/pub/ready'],
      ['Deployment', `${CONTAINER}.readinessProbe.httpGet.port`, 8080],
      ['Deployment', `${CONTAINER}.startupProbe.failureThreshold`, 3],
    ],
    'is found by its selectors': [
      ['Deployment', 'spec.selector.matchLabels', { app: 'other' }],
      ['Service', 'spec.selector', { app: 'other' }],
      ['Service', 'spec.ports.0.targetPort', 'web'],
      ['NetworkPolicy', 'spec.podSelector.matchLabels', { app: 'other' }],
      ['NetworkPolicy', 'spec.ingress.0.ports.0.port', 8080],
    ],
    'has an address inside of the cluster alone': [['Service', 'spec.type', 'LoadBalancer']],
  };

  it('hold for what is written', async (t) => {
    assert.deepEqual(faultsOf((await writtenManifests(t)).manifests), []);
  });

  it('find each manifest that breaks them', async (t) => {
    const { manifests } = await writtenManifests(t);
    assert.deepEqual(Object.keys(breaks), Object.keys(RULES));
    for (const [rule, changes] of Object.entries(breaks))
      for (const [kind, path, value] of changes) {
        const found = faultsOf(changedManifests(manifests, kind, path, value)).map((fault) => fault.split(':')[0]);
        assert.ok(found.includes(rule), `${rule}: ${path} = ${JSON.stringify(value)}`);
      }
  });
});
