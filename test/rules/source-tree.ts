// The sources as the architecture tests see them: every file with what it imports, by path below the repository.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceImport {
  /** A path below the repository, `node:…`, or a package without its subpath. */
  readonly target: string;
  readonly kind: 'local' | 'node' | 'package';
  readonly typeOnly: boolean;
  readonly lazy: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly SourceImport[];
}

/** Every TypeScript file below the folders. */
export function sourceFiles(folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => sourceFile(join(folder, name))),
  );
}

function sourceFile(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, imports: [...importsOf(text)].map((found) => resolved(path, found)) };
}

interface Found {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly lazy: boolean;
}

const STATIC = /^(?:import|export)\s+(type\s+)?[^'";]*?from\s+'([^']+)'/gm;
const BARE = /^import\s+'([^']+)'/gm;
const LAZY = /(typeof\s+)?import\('([^']+)'\)/g;

function* importsOf(text: string): Generator<Found> {
  for (const [, type, specifier = ''] of text.matchAll(STATIC))
    yield { specifier, typeOnly: type !== undefined, lazy: false };
  for (const [, specifier = ''] of text.matchAll(BARE)) yield { specifier, typeOnly: false, lazy: false };
  for (const [, type, specifier = ''] of text.matchAll(LAZY))
    yield { specifier, typeOnly: type !== undefined, lazy: true };
}

function resolved(path: string, { specifier, typeOnly, lazy }: Found): SourceImport {
  if (specifier.startsWith('node:')) return { target: specifier, kind: 'node', typeOnly, lazy };
  if (specifier.startsWith('.'))
    return { target: normalize(join(dirname(path), specifier)), kind: 'local', typeOnly, lazy };
  const [first = '', second = ''] = specifier.split('/');
  return { target: first.startsWith('@') ? `${first}/${second}` : first, kind: 'package', typeOnly, lazy };
}
