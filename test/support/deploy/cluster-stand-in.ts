// Stands in for the API server of a cluster, on loopback: it keeps what kubectl sends and says that each Deployment is up. Nothing is run.

import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import type { Cleanup } from '../temporary-project.ts';
import type { Manifest } from './manifests.ts';

/** By API version: kind, and its name in paths. */
const KINDS: Readonly<Record<string, readonly (readonly [kind: string, path: string])[]>> = {
  v1: [
    ['Secret', 'secrets'],
    ['Service', 'services'],
    ['PersistentVolumeClaim', 'persistentvolumeclaims'],
  ],
  'apps/v1': [['Deployment', 'deployments']],
  'networking.k8s.io/v1': [['NetworkPolicy', 'networkpolicies']],
};
const UP = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };

type Json = Record<string, unknown>;

export interface ClusterStandIn {
  /** For KUBECONFIG. */
  readonly config: string;
  /** `POST secrets svc-secrets`, in their order. */
  readonly changes: readonly string[];
  /** What is kept: by kind. */
  readonly kept: () => Readonly<Record<string, Manifest & Json>>;
}

export async function clusterStandIn(t: Cleanup, folder: string): Promise<ClusterStandIn> {
  const kept = new Map<string, Manifest & Json>();
  const changes: string[] = [];
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  const answer = async (request: IncomingMessage): Promise<readonly [number, unknown]> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in');
    const fixed = discovery(pathname);
    if (fixed !== undefined) return [200, fixed];
    const [, version = '', path = '', name] =
      /^\/apis?\/(.+)\/namespaces\/default\/(\w+)(?:\/([\w.-]+))?$/.exec(pathname) ?? [];
    const [kind] = KINDS[version]?.find(([, known]) => known === path) ?? [];
    if (kind === undefined) return [404, status(404, 'NotFound', pathname)];
    const key = `${path}/${name ?? searchParams.get('fieldSelector')?.replace('metadata.name=', '')}`;
    switch (request.method) {
      case 'GET': {
        const found = kept.get(key);
        if (name !== undefined) return found === undefined ? [404, status(404, 'NotFound', name)] : [200, found];
        return [
          200,
          { apiVersion: version, kind: `${kind}List`, metadata: {}, items: found === undefined ? [] : [found] },
        ];
      }
      case 'POST': {
        const made = JSON.parse(await text(request)) as Manifest & Json;
        changes.push(`POST ${path} ${made.metadata.name}`);
        kept.set(`${path}/${made.metadata.name}`, running(made));
        return [201, running(made)];
      }
      case 'PATCH': {
        const former = kept.get(key);
        if (former === undefined) return [404, status(404, 'NotFound', key)];
        changes.push(`PATCH ${path} ${name}`);
        const merged = running(merge(former, JSON.parse(await text(request))) as Manifest & Json);
        kept.set(key, merged);
        return [200, merged];
      }
      default:
        return [405, status(405, 'MethodNotAllowed', pathname)];
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const config = join(folder, 'kubeconfig');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(
    config,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'stand-in', cluster: { server: url } }],
      users: [{ name: 'nobody', user: {} }],
      contexts: [{ name: 'stand-in', context: { cluster: 'stand-in', user: 'nobody', namespace: 'default' } }],
      'current-context': 'stand-in',
    }),
  );
  return {
    config,
    changes,
    kept: () => Object.fromEntries([...kept.values()].map((manifest) => [manifest.kind, manifest])),
  };
}

const running = (manifest: Manifest & Json): Manifest & Json => ({
  ...manifest,
  metadata: { ...manifest.metadata, namespace: 'default', generation: 1, resourceVersion: '1', uid: 'u' } as never,
  ...(manifest.kind === 'Deployment' ? { status: UP } : {}),
});

/** A merge of objects; kubectl's patches of lists are not needed here. */
function merge(former: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Json = { ...(typeof former === 'object' ? former : {}) };
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete merged[key];
    else if (!key.startsWith('$')) merged[key] = merge(merged[key], value);
  return merged;
}

const status = (code: number, reason: string, message: string): unknown => ({
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  code,
  reason,
  message,
});

/** What a client asks before it asks for anything: groups, kinds, and that fields are validated here. */
function discovery(path: string): unknown {
  const groups = Object.keys(KINDS).filter((version) => version !== 'v1');
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis')
    return {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: groups.map((groupVersion) => {
        const [name, version] = groupVersion.split('/');
        return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
      }),
    };
  if (path === '/openapi/v3')
    return {
      paths: Object.fromEntries(
        Object.keys(KINDS).map((version) => [
          prefixed(version),
          { serverRelativeURL: `/openapi/v3/${prefixed(version)}` },
        ]),
      ),
    };
  const [, isSchema, version = ''] = /^(\/openapi\/v3)?\/apis?\/((?:[\w.]+\/)?v\d)$/.exec(path) ?? [];
  const kinds = KINDS[version];
  if (kinds === undefined) return undefined;
  return isSchema === undefined ? resources(version, kinds) : schema(version, kinds);
}

const prefixed = (version: string): string => (version === 'v1' ? 'api/v1' : `apis/${version}`);

const resources = (version: string, kinds: readonly (readonly [string, string])[]): unknown => ({
  kind: 'APIResourceList',
  groupVersion: version,
  resources: kinds.map(([kind, name]) => ({
    name,
    singularName: kind.toLowerCase(),
    namespaced: true,
    kind,
    verbs: ['create', 'get', 'list', 'patch', 'watch'],
  })),
});

const schema = (version: string, kinds: readonly (readonly [string, string])[]): unknown => ({
  openapi: '3.0.0',
  info: { title: 'stand-in', version: '1' },
  paths: Object.fromEntries(
    kinds.map(([kind, path]) => {
      const [group, name] = version === 'v1' ? ['', 'v1'] : version.split('/');
      return [
        `/${prefixed(version)}/namespaces/{namespace}/${path}/{name}`,
        {
          patch: {
            'x-kubernetes-action': 'patch',
            'x-kubernetes-group-version-kind': { group, version: name, kind },
            parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
            responses: {},
          },
        },
      ];
    }),
  ),
});
