// The files of `svc deploy init kubernetes` through kubectl: rendered by its kustomize, and the Secret of `.env`. No cluster is asked.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deployFolder, runDeploy } from '../../../support/commands/deploy-run.ts';
import { clusterStandIn } from '../../../support/deploy/cluster-stand-in.ts';
import { kubectlMissing, rendered, shell, shellTo } from '../../../support/deploy/kubectl.ts';
import { faultsOf, imageFaults } from '../../../support/deploy/kubernetes-rules.ts';
import { typeFaults, valueFaults } from '../../../support/deploy/kubernetes-types.ts';
import { at, type Manifest, manifestsOf, ofKind, withValue } from '../../../support/deploy/manifests.ts';
import { KUBERNETES, writtenManifests } from '../../../support/deploy/written-manifests.ts';

const IMAGE = 'spec.template.spec.containers.0.image';
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** Rendered after the operator has changed kustomization.yaml. */
function changed(folder: string, change: (text: string) => string): Manifest[] {
  const file = join(folder, KUBERNETES, 'kustomization.yaml');
  const text = readFileSync(file, 'utf8');
  assert.notEqual(change(text), text);
  writeFileSync(file, change(text));
  return manifestsOf(rendered(folder, KUBERNETES));
}

/** Takes the marks of a comment away from a block and one of its entries. */
const withBlock =
  (block: string, entry: string) =>
  (text: string): string =>
    text.replace(`# ${block}:`, `${block}:`).replace(`#   - ${entry}`, `  - ${entry}`);

describe('the manifests through kubectl', { skip: kubectlMissing() }, () => {
  it('are rendered whole: they keep the rules, their types and their values', async (t) => {
    const { folder, manifests: written } = await writtenManifests(t);
    const manifests = manifestsOf(rendered(folder, KUBERNETES));

    assert.deepEqual(
      manifests.map(({ kind }) => kind).toSorted(),
      written
        .map(({ kind }) => kind)
        .filter((kind) => kind !== 'NetworkPolicy')
        .toSorted(),
    );
    assert.deepEqual(faultsOf(manifests), []);
    assert.equal(await typeFaults(manifests), '');
    assert.deepEqual(await valueFaults(manifests), []);
  });

  it('have the image that kustomization.yaml names, by tag and by digest', async (t) => {
    const { folder } = await writtenManifests(t);
    const image = (manifests: readonly Manifest[]): unknown => at(ofKind(manifests, 'Deployment')[0], IMAGE);

    const tagged = changed(folder, (text) =>
      text.replace('registry.example/acme-my-bot', 'r.internal:5000/team/bot').replace('newTag: set-me', 'newTag: "7"'),
    );
    const pinned = changed(folder, (text) => text.replace('newTag: "7"', `digest: ${DIGEST}`));

    assert.deepEqual(
      [image(tagged), image(pinned)],
      ['r.internal:5000/team/bot:7', `r.internal:5000/team/bot@${DIGEST}`],
    );
    assert.deepEqual([imageFaults(tagged), imageFaults(pinned)], [[], []]);
    assert.equal(imageFaults(changed(folder, (text) => text.replace(/digest: .*/, 'newTag: latest'))).length, 1);
  });

  it('take the policy as a component, which finds the pod and its port', async (t) => {
    const { folder } = await writtenManifests(t);
    const manifests = changed(folder, withBlock('components', 'network-policy'));

    assert.equal(ofKind(manifests, 'NetworkPolicy').length, 1);
    assert.deepEqual(faultsOf(manifests), []);
    assert.equal(await typeFaults(manifests), '');
  });

  it('take the patch for older provisioners, which changes the mode of the claim alone', async (t) => {
    const { folder } = await writtenManifests(t);
    const before = manifestsOf(rendered(folder, KUBERNETES));
    const manifests = changed(folder, withBlock('patches', 'path: rwo.yaml'));

    assert.deepEqual(faultsOf(manifests), ['has a claim for one pod: modes ["ReadWriteOnce"]']);
    assert.deepEqual(
      manifests.filter(({ kind }) => kind !== 'PersistentVolumeClaim'),
      before.filter(({ kind }) => kind !== 'PersistentVolumeClaim'),
    );
  });

  it('are applied by the printed commands, and the Secret is changed by those of the notes', async (t) => {
    const folder = deployFolder(t);
    const { next, notes } = await runDeploy(folder, 'kubernetes');
    const cluster = await clusterStandIn(t, folder);
    const token = (value: string): void =>
      writeFileSync(join(folder, '.env'), `HTTP_TOKEN=${value}\n`, { mode: 0o600 });
    const kept = (path: string, kind: string): unknown => at(cluster.kept()[kind], path);
    const text = (value: string): string => Buffer.from(value).toString('base64');

    token('first');
    const said: string[] = [];
    for (const line of next) said.push(await shellTo(cluster, folder, line));

    assert.deepEqual(cluster.changes.toSorted(), [
      'POST deployments acme-my-bot',
      'POST persistentvolumeclaims acme-my-bot',
      'POST secrets svc-secrets',
      'POST services acme-my-bot',
    ]);
    assert.match(said.at(-1) ?? '', /successfully rolled out/);
    assert.equal(kept('data.HTTP_TOKEN', 'Secret'), text('first'));

    token('second');
    const restart = /kubectl rollout restart [\w/-]+/.exec(notes.join('\n'))?.[0] ?? 'none';
    for (const line of [next[0] ?? 'none', restart]) await shellTo(cluster, folder, line);

    assert.deepEqual(cluster.changes.slice(-2), ['PATCH secrets svc-secrets', 'PATCH deployments acme-my-bot']);
    assert.equal(kept('data.HTTP_TOKEN', 'Secret'), text('second'));
    assert.ok(Object.keys(kept('spec.template.metadata.annotations', 'Deployment') as object).length > 0);
  });

  it('become a pod that sleeps on its volume by the patch of the guide, for a restore', async (t) => {
    const { folder, manifests } = await writtenManifests(t);
    const guide = readFileSync(join(import.meta.dirname, '../../../../deploy/guide/kubernetes.md'), 'utf8');
    const patch = /^kubectl patch deployment\/<name> (--patch '.*')$/m.exec(guide)?.[1] ?? 'none';
    const [deployment] = ofKind(manifests, 'Deployment') as [Manifest];
    writeFileSync(join(folder, 'deployment.json'), JSON.stringify(deployment));

    const [asleep] = manifestsOf(shell(folder, `kubectl patch --local -f deployment.json ${patch} -o yaml`));

    const container = 'spec.template.spec.containers.0';
    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'];
    const wanted = probes.reduce((one, probe) => withValue(one, `${container}.${probe}`, undefined), deployment);
    assert.deepEqual(asleep, withValue(wanted, `${container}.command`, ['sleep', '86400']));
  });

  it('take the patch for volumes that everybody may write: a container of the same image makes the folders', async (t) => {
    const { folder } = await writtenManifests(t);
    const manifests = changed(folder, withBlock('patches', 'path: open-volume.yaml'));
    const images = ['initContainers', 'containers'].map((kind) =>
      at(ofKind(manifests, 'Deployment')[0], `spec.template.spec.${kind}.0.image`),
    );

    assert.deepEqual(images, ['registry.example/acme-my-bot:set-me', 'registry.example/acme-my-bot:set-me']);
    assert.deepEqual(faultsOf(manifests), []);
    assert.equal(await typeFaults(manifests), '');
    assert.deepEqual(await valueFaults(manifests), []);
  });

  it('come with a command whose Secret has each line of .env, byte by byte', async (t) => {
    const folder = deployFolder(t);
    const { next } = await runDeploy(folder, 'kubernetes');
    const values = { HTTP_TOKEN: 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1', HTTP_HOST: '127.0.0.1', OTHER: 'a=b:/c,d;e+é' };
    writeFileSync(
      join(folder, '.env'),
      Object.entries(values)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      { mode: 0o600 },
    );

    const made = (next[0] ?? '').split(' | ')[0] ?? '';
    const [secret] = manifestsOf(shell(folder, made));

    assert.equal(secret?.metadata.name, 'svc-secrets');
    const data = at(secret, 'data') as Readonly<Record<string, string>>;
    assert.deepEqual(
      Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()])),
      values,
    );
  });
});
