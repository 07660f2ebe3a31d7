// What the compiler says of some files and of what they import, by the settings of this repository.
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
    compilerOptions: { typeRoots: [join(ROOT, 'node_modules/@types')] },
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
