// The SDK as plugins import it: JavaScript and declarations, file by file, below dist/sdk/ with the folders of the tree.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Output, ROOT } from './output.ts';

const ENTRIES = ['worker/sdk/index.ts', 'worker/sdk/testing/index.ts'];

export async function buildSdk(output: Output): Promise<void> {
  const entries = ENTRIES.filter((path) => existsSync(join(ROOT, path)));
  for (const path of ENTRIES.filter((entry) => !entries.includes(entry))) console.log(`skipped: ${path} (no such file yet)`);
  if (entries.length === 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'svc-sdk-'));
  try {
    await compile(entries, folder);
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(js|d\.ts)$/.test(name))) {
      output.write(`sdk/${path}`, named(readFileSync(join(folder, path), 'utf8')));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Declarations keep the `.ts` of their imports; installed, the files beside them end in `.js`. */
const named = (text: string): string => text.replace(/((?:from|import\()\s*(['"])\.{1,2}\/[^'"]*)\.ts\2/g, '$1.js$2');

async function compile(entries: readonly string[], folder: string): Promise<void> {
  const project = join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify(settings(entries, folder)));
  const { code, text } = await run(['node_modules/typescript/bin/tsc', '-p', project]);
  if (code !== 0) throw new Error(`the SDK does not compile:\n${text}`);
}

const settings = (entries: readonly string[], folder: string): object => ({
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: false, declaration: true, rootDir: ROOT, outDir: folder, rewriteRelativeImportExtensions: true,
    noUnusedLocals: false, noUnusedParameters: false, stripInternal: true, typeRoots: [join(ROOT, 'node_modules/@types')], paths: {},
  },
  files: entries.map((path) => join(ROOT, path)),
  include: [],
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
