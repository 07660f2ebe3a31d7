// The programs of test/support/fixture-programs, by name, in whichever of its folders they lie.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../fixture-programs/', import.meta.url));
const BELOW_TESTS = 'test/support/fixture-programs';

const files = (readdirSync(FOLDER, { recursive: true }) as string[]).filter((file) => /\.(ts|mjs)$/u.test(file));

/** Names of the programs in TypeScript. */
export const fixtureNames = (): readonly string[] =>
  files.filter((file) => file.endsWith('.ts')).map((file) => basename(file, '.ts'));

/** Path from the repository. */
export function fixtureProgram(name: string): string {
  const file = files.find((one) => basename(one).replace(/\.[^.]+$/u, '') === name);
  if (file === undefined) throw new Error(`no program ${name} below ${BELOW_TESTS}`);
  return join(BELOW_TESTS, file);
}
