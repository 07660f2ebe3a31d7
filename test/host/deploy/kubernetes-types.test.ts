// The manifests of `svc deploy init kubernetes` against the types and schemas of Kubernetes' own interface.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { typeFaults, valueFaults } from '../../support/deploy/kubernetes-types.ts';
import { withValue } from '../../support/deploy/manifests.ts';
import { changedManifests, writtenManifests } from '../../support/deploy/written-manifests.ts';

const CONTAINER = 'spec.template.spec.containers.0';

describe('the manifests as Kubernetes reads them', () => {
  it('have the types that they name, and no key besides', async (t) => {
    const { manifests } = await writtenManifests(t);
    assert.equal(await typeFaults(manifests), '');
  });

  it('would be refused by the types with a key that is not there, in any depth, or with a value of another type', async (t) => {
    const { manifests } = await writtenManifests(t);
    const wrong = [
      ['Deployment', `${CONTAINER}.securitycontext`, {}],
      ['Deployment', `${CONTAINER}.livenessProbe.httpGet.url`, '/'],
      ['Deployment', 'spec.replicas', '1'],
      ['Service', 'spec.port', 8068],
    ] as const;
    const said = await typeFaults(
      wrong.flatMap(([kind, path, value]) =>
        manifests.filter((one) => one.kind === kind).map((one) => withValue(one, path, value)),
      ),
    );
    assert.equal(said.match(/error TS/g)?.length, wrong.length, said);
    for (const word of ['"securitycontext"', '"url"', "'number'", '"port"']) assert.ok(said.includes(word), said);
  });

  it('have values that the schemas take', async (t) => {
    const { manifests } = await writtenManifests(t);
    assert.deepEqual(await valueFaults(manifests), []);
  });

  it('would be refused by the schemas with a wrong value', async (t) => {
    const { manifests } = await writtenManifests(t);
    const cases = [
      ['Deployment', 'spec.replicas', 1.5],
      ['Deployment', `${CONTAINER}.ports.0.containerPort`, 'http'],
      ['Deployment', `${CONTAINER}.env.0.value`, 8068],
      ['Deployment', 'spec.selector', undefined],
      ['Service', 'spec.ports.0.port', '8068'],
      ['PersistentVolumeClaim', 'spec.resources.requests.storage', true],
      ['NetworkPolicy', 'spec.ingress', {}],
    ] as const;
    for (const [kind, path, value] of cases) {
      const [fault = 'none'] = await valueFaults(changedManifests(manifests, kind, path, value));
      assert.match(fault, new RegExp(`^${kind}: `), `${path} = ${JSON.stringify(value)}`);
    }
  });
});
