// What the types of Kubernetes' own interface say of manifests: each is compiled as a literal of its type, so that a key that is not there is an error;
// and its schema says which values are wrong.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compilerSays } from '../compiler.ts';
import type { Manifest } from './manifests.ts';

const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** Words of the compiler; empty where each manifest has the type that its `apiVersion` and `kind` say. */
export async function typeFaults(manifests: readonly Manifest[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-typed-'));
  try {
    symlinkSync(PACKAGES, join(folder, 'node_modules'));
    const file = join(folder, 'manifests.ts');
    const lines = manifests.map(
      (manifest, at) =>
        `export const manifest${at}: import('kubernetes-models/${manifest.apiVersion}/${manifest.kind}').I${manifest.kind} = ${JSON.stringify(manifest, null, 1)};\n`,
    );
    writeFileSync(file, lines.join(''));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    return await compilerSays([file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Model = new (manifest: Manifest) => { validate(): void };

/** `kind: what is wrong`; empty where the schemas take all values. */
export async function valueFaults(manifests: readonly Manifest[]): Promise<string[]> {
  const faults: string[] = [];
  for (const manifest of manifests)
    try {
      const models = (await import(`kubernetes-models/${manifest.apiVersion}/${manifest.kind}`)) as Readonly<
        Record<string, Model>
      >;
      const Kind = models[manifest.kind];
      if (Kind === undefined) faults.push(`${manifest.kind}: ${manifest.apiVersion} has none`);
      else new Kind(manifest).validate();
    } catch (error) {
      faults.push(`${manifest.kind}: ${String(error)}`);
    }
  return faults;
}
