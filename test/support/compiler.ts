// What the compiler says of some files and of what they import, by the settings of this repository. Of svc they import the built
// declarations, as authors do: to check the sources below these is for `npm run types`.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Its words; empty when it takes them all. */
export async function compilerSays(files: readonly string[]): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'svc-compiled-'));
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: {
        svc: [join(ROOT, 'dist/sdk/worker/sdk/index.d.ts')],
        'svc/testing': [join(ROOT, 'dist/sdk/worker/testing/index.d.ts')],
      },
    },
    include: [join(ROOT, 'worker/**/*.d.ts')],
    files,
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(settings));
  // In one thread, which is half the work: of several each would look at the same libraries.
  const args = ['node_modules/typescript/bin/tsc', '-p', project, '--singleThreaded', '--pretty', 'false'];
  const said = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).then(
    () => '',
    (error: { readonly stdout: string; readonly message: string }) => error.stdout || error.message,
  );
  await rm(project, { recursive: true });
  return said;
}
