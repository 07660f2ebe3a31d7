// Declarations that authors publish: what a package exports has a name there, also where the packages of svc are its own (pnpm).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCE = `import { type Ctx, defineEvent, md, t, type Setup } from 'svc';
export const args = {
  n: t.integer(), x: t.number(), b: t.boolean(), s: t.optional(t.string()), e: t.enum(['a', 'b']), w: t.duration(), k: t.secret(),
  l: t.array(t.rest()), r: t.record(t.user()), c: t.conversation(), m: t.message(),
};
export const schema = t.object(args);
export const builder = t;
export const event = defineEvent('plugin.x.done', schema);
export const line = md\`a\`;
export const page = (ctx: Ctx) => ctx.list;
export const once = (ctx: Ctx) => ctx.once;
export const schedule = (ctx: Ctx) => ctx.schedule;
export const state = (p: Setup<{}, {}>) => p.state('s', { scope: 'plugin', value: schema });
export const counter = (p: Setup<{}, {}>) => p.counter('c', 'C', { kind: ['a'] });
`;

describe('the types of a package that exports schemas', () => {
  it('can be declared without naming what is inside svc', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-declarations-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const svc = join(folder, 'node_modules/svc');
    for (const name of ['package.json', 'dist/sdk'])
      cpSync(join(REPOSITORY, name), join(svc, name), { recursive: true });
    for (const [name, into] of [
      ['typebox', svc],
      ['@types/node', folder],
      ['undici-types', folder],
    ] as const) {
      mkdirSync(join(into, 'node_modules'), { recursive: true });
      cpSync(join(REPOSITORY, 'node_modules', name), join(into, 'node_modules', name), { recursive: true });
    }
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      declaration: true,
      skipLibCheck: true,
      outDir: 'dist',
      types: ['node'],
    };
    writeFileSync(join(folder, 'package.json'), '{"name":"a","type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
    writeFileSync(join(folder, 'index.ts'), SOURCE);

    const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
    const said = await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { readonly stdout: string }) => stdout,
    );

    assert.equal(said, '');
    const declared = readFileSync(join(folder, 'dist/index.d.ts'), 'utf8');
    assert.deepEqual(
      [...declared.matchAll(/import\("([^"]+)"\)/g)].filter(([, name]) => name !== 'svc'),
      [],
    );
  });
});
