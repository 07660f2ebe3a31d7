// The SDK as plugins import it: JavaScript and declarations, file by file, below dist/sdk/ with the folders of the tree. Of the
// test host only the declarations are here: its code is a bundle, because it holds most of the worker.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Output, ROOT } from './output.ts';

const ENTRIES = ['worker/sdk/index.ts', 'worker/testing/index.ts'];

export async function buildSdk(output: Output): Promise<void> {
  const entries = ENTRIES.filter((path) => existsSync(join(ROOT, path)));
  for (const path of ENTRIES.filter((entry) => !entries.includes(entry)))
    console.log(`skipped: ${path} (no such file yet)`);
  if (entries.length === 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'svc-sdk-'));
  try {
    await compile(entries, folder);
    const texts = new Map<string, string>();
    collect('worker/sdk/index.js', folder, texts);
    for (const path of entries) collect(path.replace(/ts$/, 'd.ts'), folder, texts);
    for (const [path, text] of texts) output.write(`sdk/${path}`, text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The file and those of its kind that it reaches: the compiler emits more than is published. */
function collect(path: string, folder: string, texts: Map<string, string>): void {
  if (texts.has(path)) return;
  const text = named(readFileSync(join(folder, path), 'utf8'));
  texts.set(path, text);
  const ending = path.endsWith('.d.ts') ? '.d.ts' : '.js';
  for (const [, , specifier = ''] of text.matchAll(RELATIVE))
    collect(join(dirname(path), specifier.replace(/\.js$/, ending)), folder, texts);
}

const RELATIVE = /(?:from|import\()\s*(['"])(\.{1,2}\/[^'"]+)\1/g;

/** Declarations keep the `.ts` of their imports; installed, the files beside them end in `.js`. */
const named = (text: string): string => text.replace(/((?:from|import\()\s*(['"])\.{1,2}\/[^'"]*)\.ts\2/g, '$1.js$2');

async function compile(entries: readonly string[], folder: string): Promise<void> {
  const project = join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify(settings(entries, folder)));
  const { code, text } = await run(['node_modules/typescript/bin/tsc', '-p', project]);
  // Files that the SDK does not own are for `npm run types`; here they only have to be emitted.
  const own = text.split('\n').filter((line) => line.startsWith('worker/sdk/') || line.startsWith('error'));
  if (code !== 0 && own.length > 0) throw new Error(`the SDK does not compile:\n${own.join('\n')}`);
}

const settings = (entries: readonly string[], folder: string): object => ({
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    rootDir: ROOT,
    outDir: folder,
    rewriteRelativeImportExtensions: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    stripInternal: true,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: {},
  },
  files: entries.map((path) => join(ROOT, path)),
  include: [join(ROOT, 'worker/**/*.d.ts')],
});

function run(args: readonly string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text }));
  });
}
