// Manifests of Kubernetes as tests read them: the documents of files, and what lies in one.
import { parseAllDocuments } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Of one or more files, in their order. Throws where a text is no YAML. */
export const manifestsOf = (...texts: readonly string[]): Manifest[] =>
  texts.flatMap((text) =>
    parseAllDocuments(text).map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return document.toJS() as Manifest;
    }),
  );

/** The value at a path like `spec.template.spec.containers.0.image`; undefined where there is none. */
export const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
      value,
    );

/** A copy with another value at that path; undefined takes the key away. */
export function withValue<T>(value: T, path: string, other: unknown): T {
  const copy = structuredClone(value);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = (keys.length === 0 ? copy : at(copy, keys.join('.'))) as Record<string, unknown>;
  if (other === undefined) delete parent[last];
  else parent[last] = other;
  return copy;
}

export const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);
