// Our rules for the manifests of a host: the profile `restricted` of Kubernetes, and what one host on one volume needs. A rule gives its faults.
import { at, type Manifest, ofKind } from './manifests.ts';

type Rule = (manifests: readonly Manifest[]) => readonly (string | false)[];

const POD = 'spec.template.spec';
const DRAIN_SECONDS = 8;
const STARTUP_SECONDS = 600;
const STATE_MOUNTS = ['/app/.svc', '/app/data'];

type Fields = Readonly<Record<string, unknown>>;
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);
const pods = (manifests: readonly Manifest[]): unknown[] =>
  ofKind(manifests, 'Deployment').map((deployment) => at(deployment, POD));
const containers = (manifests: readonly Manifest[]): readonly Fields[] =>
  pods(manifests).flatMap((pod) => [...list(at(pod, 'initContainers')), ...list(at(pod, 'containers'))]);
/** Those that serve: without the ones that only prepare. */
const hosts = (manifests: readonly Manifest[]): readonly Fields[] =>
  pods(manifests).flatMap((pod) => list(at(pod, 'containers')));
const labels = (manifests: readonly Manifest[]): unknown[] =>
  ofKind(manifests, 'Deployment').map((deployment) => at(deployment, 'spec.template.metadata.labels'));
const selects = (selector: unknown, manifests: readonly Manifest[]): boolean =>
  labels(manifests).some((given) =>
    Object.entries((selector ?? { none: '' }) as Fields).every(([key, value]) => (given as Fields)[key] === value),
  );
const portNames = (manifests: readonly Manifest[]): unknown[] =>
  containers(manifests).flatMap(({ ports }) => list(ports).map(({ name }) => name));

export const RULES: Readonly<Record<string, Rule>> = {
  'runs as a user that is not root': (all) =>
    pods(all).map((pod) => {
      const user = at(pod, 'securityContext.runAsUser');
      return (
        !(at(pod, 'securityContext.runAsNonRoot') === true && typeof user === 'number' && user > 0) && `user ${user}`
      );
    }),
  'has the seccomp profile of the runtime': (all) =>
    pods(all).map((pod) => at(pod, 'securityContext.seccompProfile.type') !== 'RuntimeDefault' && 'none'),
  'gains no rights': (all) =>
    containers(all).map(
      (one) =>
        (at(one, 'securityContext.allowPrivilegeEscalation') !== false ||
          at(one, 'securityContext.privileged') === true) &&
        'it may',
    ),
  'has no capability': (all) =>
    containers(all).map((one) => {
      const dropped = at(one, 'securityContext.capabilities.drop');
      const isBare = JSON.stringify(dropped) === '["ALL"]' && at(one, 'securityContext.capabilities.add') === undefined;
      return !isBare && `drops ${JSON.stringify(dropped)}`;
    }),
  'has a root file system that is only read': (all) =>
    containers(all).map((one) => at(one, 'securityContext.readOnlyRootFilesystem') !== true && 'it is written'),
  'shares nothing with its node': (all) => [
    ...pods(all).map(
      (pod) => ['hostNetwork', 'hostPID', 'hostIPC'].some((key) => at(pod, key) !== undefined) && 'a namespace',
    ),
    ...pods(all).flatMap((pod) =>
      list(at(pod, 'volumes')).map((volume) => volume['hostPath'] !== undefined && `volume ${volume['name']}`),
    ),
    ...containers(all).flatMap(({ ports }) => list(ports).map(({ hostPort }) => hostPort !== undefined && 'a port')),
  ],
  'has no token of the cluster and no variables of its neighbours': (all) =>
    pods(all).flatMap((pod) => [
      at(pod, 'automountServiceAccountToken') !== false && 'a token is mounted',
      at(pod, 'enableServiceLinks') !== false && 'variables of services',
    ]),
  'is one, and the old one is gone before the new one starts': (all) =>
    ofKind(all, 'Deployment').flatMap((deployment) => [
      at(deployment, 'spec.replicas') !== 1 && `${at(deployment, 'spec.replicas')} replicas`,
      at(deployment, 'spec.strategy.type') !== 'Recreate' && 'not Recreate',
    ]),
  'has a limit of memory and none of CPU': (all) =>
    containers(all).flatMap((one) => [
      at(one, 'resources.limits.memory') === undefined && 'no limit of memory',
      at(one, 'resources.limits.cpu') !== undefined && 'a limit of CPU',
    ]),
  'may drain': (all) =>
    pods(all).map((pod) => !(Number(at(pod, 'terminationGracePeriodSeconds')) > DRAIN_SECONDS) && 'it is cut'),
  'keeps its state on one claim, whose files stay private': (all) => {
    const claims = ofKind(all, 'PersistentVolumeClaim').map(({ metadata }) => metadata.name);
    return pods(all).flatMap((pod) => {
      const mounts = list(at(pod, 'containers.0.volumeMounts'));
      const [first, second] = STATE_MOUNTS.map((path) => mounts.find(({ mountPath }) => mountPath === path));
      const volume = list(at(pod, 'volumes')).find(({ name }) => name === first?.['name']);
      return [
        (first?.['name'] !== second?.['name'] || first?.['subPath'] === second?.['subPath']) &&
          'two volumes, or one folder',
        !claims.includes(String(at(volume, 'persistentVolumeClaim.claimName'))) && 'no claim of these files',
        typeof at(pod, 'securityContext.fsGroup') !== 'number' && 'no group',
        at(pod, 'securityContext.fsGroupChangePolicy') !== 'OnRootMismatch' && 'rights are changed at each start',
      ];
    });
  },
  'has a claim for one pod': (all) =>
    ofKind(all, 'PersistentVolumeClaim').map((claim) => {
      const modes = JSON.stringify(at(claim, 'spec.accessModes'));
      return modes !== '["ReadWriteOncePod"]' && `modes ${modes}`;
    }),
  'takes secrets from svc-secrets and has none in its files': (all) => [
    ...ofKind(all, 'Secret').map(({ metadata }) => `Secret ${metadata.name}`),
    ...ofKind(all, 'ConfigMap').map(({ metadata }) => `ConfigMap ${metadata.name}`),
    ...hosts(all).flatMap((one) => [
      at(one, 'envFrom.0.secretRef.name') !== 'svc-secrets' && 'no Secret',
      ...list(one['env']).map(({ name }) => !['HTTP_HOST', 'HTTP_PORT'].includes(String(name)) && `variable ${name}`),
    ]),
  ],
  'is probed at the paths of a host, long enough for a migration': (all) =>
    hosts(all).flatMap((one) => {
      const startup = at(one, 'startupProbe') as Fields | undefined;
      return [
        ...[
          ['startupProbe', '/pub/health'],
          ['livenessProbe', '/pub/health'],
          ['readinessProbe', '/pub/ready'],
        ].flatMap(([probe, path]) => [
          at(one, `${probe}.httpGet.path`) !== path && `${probe} asks elsewhere`,
          !portNames(all).includes(at(one, `${probe}.httpGet.port`)) && `${probe} asks a port that is not there`,
        ]),
        !(Number(startup?.['periodSeconds']) * Number(startup?.['failureThreshold']) >= STARTUP_SECONDS) &&
          'the startup is cut',
      ];
    }),
  'is found by its selectors': (all) => [
    ...ofKind(all, 'Deployment').map(
      (deployment) => !selects(at(deployment, 'spec.selector.matchLabels'), all) && 'by its Deployment: no',
    ),
    ...ofKind(all, 'Service').flatMap((service) => [
      !selects(at(service, 'spec.selector'), all) && 'by its Service: no',
      ...list(at(service, 'spec.ports')).map(
        ({ targetPort }) => !portNames(all).includes(targetPort) && `Service to port ${targetPort}`,
      ),
    ]),
    ...ofKind(all, 'NetworkPolicy').flatMap((policy) => [
      !selects(at(policy, 'spec.podSelector.matchLabels'), all) && 'by its NetworkPolicy: no',
      ...list(at(policy, 'spec.ingress')).flatMap(({ ports }) =>
        list(ports).map(({ port }) => !portNames(all).includes(port) && `policy for port ${port}`),
      ),
    ]),
  ],
  'has an address inside of the cluster alone': (all) =>
    ofKind(all, 'Service').map((service) => at(service, 'spec.type') !== 'ClusterIP' && 'it is reached from outside'),
};

/** `rule: fault`; empty where the manifests keep all rules. */
export const faultsOf = (manifests: readonly Manifest[]): string[] =>
  Object.entries(RULES).flatMap(([rule, look]) =>
    look(manifests).flatMap((fault) => (fault === false ? [] : [`${rule}: ${fault}`])),
  );

/** A tag that says which image it is, or a digest. */
export const imageFaults = (manifests: readonly Manifest[]): string[] =>
  containers(manifests)
    .map(({ image }) => String(image))
    .filter((image) => !/(:(?!latest$)[\w.-]+|@sha256:[\da-f]{64})$/.test(image));
