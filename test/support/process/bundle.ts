// Programs for process tests: bundled in a moment, so that a start costs what plain Node costs and not a TypeScript loader.
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Bundles entries (paths from the repository's root); gives the made files by base name. Packages stay outside. */
export async function bundlePrograms(
  entries: readonly string[],
  define: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, string>> {
  // Inside node_modules, so that packages are found and no tool looks at it; a folder for each test process.
  const outdir = join(ROOT, 'node_modules', '.cache', 'svc-test', String(process.pid));
  mkdirSync(outdir, { recursive: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(entries.map((entry) => [nameOf(entry), entry])),
    outdir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    define: { FAILPOINTS: 'false', ...define },
    logLevel: 'silent',
  });
  return new Map(entries.map((entry) => [nameOf(entry), join(outdir, `${nameOf(entry)}.mjs`)]));
}

/** `supervisor/main.ts` → `supervisor-main`; programs of one folder by their own name. */
const nameOf = (entry: string): string =>
  basename(entry) === 'main.ts' ? entry.replace(/\.ts$/, '').replaceAll('/', '-') : basename(entry, '.ts');
