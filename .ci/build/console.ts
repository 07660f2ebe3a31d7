// The Console: worker/console/index.html with its scripts and styles bundled under names that hold a hash of the content,
// so that a browser may keep them for ever. References stay relative: the page works below any base path.
import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';
import { type Output, ROOT } from './output.ts';

const FOLDER = join(ROOT, 'worker/console');
const REFERENCE = /\b(src|href)="\.?\/?([^":#?]+\.(?:ts|tsx|css|svg|png|ico|webmanifest))"/g;

export async function buildConsole(output: Output): Promise<void> {
  const page = join(FOLDER, 'index.html');
  if (!existsSync(page)) return console.log('skipped: worker/console/index.html (no such file yet)');
  const html = readFileSync(page, 'utf8');
  const names = new Map<string, string>();
  for (const [, , path = ''] of html.matchAll(REFERENCE)) names.set(path, await asset(output, path));
  output.write(
    'console/index.html',
    html.replace(REFERENCE, (_, attribute: string, path: string) => `${attribute}="./${names.get(path)}"`),
  );
}

async function asset(output: Output, path: string): Promise<string> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: [{ in: join(FOLDER, path), out: basename(path, extname(path)) }],
    outdir: join(ROOT, 'dist/console/assets'),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: {
      '.svg': /\.(ts|tsx|css)$/.test(path) ? 'file' : 'copy',
      '.png': 'copy',
      '.ico': 'copy',
      '.webmanifest': 'copy',
      '.woff2': 'copy',
    },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  for (const file of result.outputFiles) output.write(`console/assets/${basename(file.path)}`, file.contents);
  const wanted = extname(path).replace(/^\.tsx?$/, '.js');
  const main = result.outputFiles.find((file) => extname(file.path) === wanted);
  if (main === undefined) throw new Error(`worker/console/${path} made no ${wanted} file`);
  return `assets/${basename(main.path)}`;
}
