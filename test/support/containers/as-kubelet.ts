// A Deployment's container run by podman with what kubelet would set: user, groups, rights, variables, and a volume as its driver leaves it.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, type Manifest } from '../deploy/manifests.ts';
import type { Engine } from './engine.ts';

const POD = 'spec.template.spec';
const CONTAINER = `${POD}.containers.0`;

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
}

export interface Pod {
  /** Starts it, with another command where one is given. */
  start(command?: readonly string[]): Promise<void>;
  /** SIGTERM, then the grace period of the pod. Gives its exit code. */
  stop(): Promise<string>;
  kill(): Promise<void>;
}

export interface PodFiles {
  /** Of its volumes. */
  readonly folder: string;
  readonly image: string;
  readonly name: string;
  /** What the Secret was made of. */
  readonly envFile: string;
}

export async function podOf(engine: Engine, deployment: Manifest, files: PodFiles): Promise<Pod> {
  const get = <T>(path: string): T => {
    const value = at(deployment, path);
    assert.notEqual(value, undefined, path);
    return value as T;
  };
  const { name, image, envFile } = files;
  const group = get<number>(`${POD}.securityContext.fsGroup`);
  assert.equal(get(`${CONTAINER}.securityContext.readOnlyRootFilesystem`), true);
  assert.equal(get(`${CONTAINER}.securityContext.allowPrivilegeEscalation`), false);
  assert.equal(get(`${POD}.securityContext.seccompProfile.type`), 'RuntimeDefault');
  assert.equal(get(`${CONTAINER}.envFrom.0.secretRef.name`), 'svc-secrets');
  const volumes: string[] = [];
  for (const { name: volume, mountPath, subPath = '' } of get<readonly Mount[]>(`${CONTAINER}.volumeMounts`)) {
    const path = join(files.folder, volume, subPath);
    mkdirSync(path, { recursive: true });
    await engine.must(`chown root:${group} ${path} && chmod ${subPath === '' ? '2777' : '2775'} ${path}`);
    volumes.push(`-v ${path}:${mountPath}`);
  }
  const own = get<readonly { readonly name: string; readonly value: string }[]>(`${CONTAINER}.env`);
  writeFileSync(join(files.folder, 'env'), own.map((one) => `${one.name}=${one.value}\n`).join(''));
  const options = [
    `--name ${name}`,
    `--user ${get<number>(`${POD}.securityContext.runAsUser`)}:${get<number>(`${POD}.securityContext.runAsGroup`)}`,
    `--group-add ${group}`,
    '--read-only --read-only-tmpfs=false --security-opt no-new-privileges',
    ...get<readonly string[]>(`${CONTAINER}.securityContext.capabilities.drop`).map((one) => `--cap-drop ${one}`),
    // The later file wins, as `env` does over `envFrom`.
    `--env-file ${envFile} --env-file ${join(files.folder, 'env')}`,
    ...volumes,
  ].join(' ');
  return {
    async start(command = []) {
      await engine.must(`podman run -d ${options} ${image} ${command.join(' ')}`);
    },
    async stop() {
      await engine.must(`podman stop --time ${get<number>(`${POD}.terminationGracePeriodSeconds`)} ${name}`);
      const code = await engine.must(`podman inspect ${name} --format '{{.State.ExitCode}}'`);
      await engine.must(`podman rm ${name}`);
      return code;
    },
    async kill() {
      await engine.must(`podman rm --force --time 0 ${name}`);
    },
  };
}
