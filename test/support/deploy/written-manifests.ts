// A project for which `svc deploy init kubernetes` was run, and the manifests that it wrote.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployFolder, runDeploy } from '../commands/deploy-run.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type Manifest, manifestsOf, withValue } from './manifests.ts';

export const KUBERNETES = 'deploy/kubernetes';

/** The claim, the Deployment, the Service and the NetworkPolicy. */
export async function writtenManifests(
  t: Cleanup,
): Promise<{ readonly folder: string; readonly manifests: readonly Manifest[] }> {
  const folder = deployFolder(t);
  await runDeploy(folder, 'kubernetes');
  const read = (name: string): string => readFileSync(join(folder, KUBERNETES, name), 'utf8');
  return { folder, manifests: manifestsOf(read('resources.yaml'), read('network-policy/policy.yaml')) };
}

/** All of them, one kind with another value at a path. */
export const changedManifests = (
  manifests: readonly Manifest[],
  ...[kind, path, value]: readonly [kind: string, path: string, value: unknown]
): Manifest[] => manifests.map((one) => (one.kind === kind ? withValue(one, path, value) : one));
