// Builds dist/ from the sources, in seconds: bundles of the processes, the SDK file by file with its declarations, the
// configuration schema and the Console. Nothing is built when no input changed since the last build.
//
//   B1  A file is replaced only when its content changed, by a rename: a running process never reads half a file.
//   B2  The supervisor's bundle loads `node:` modules alone; any other import fails the build.
//   B3  `--clean` starts from an empty dist/; otherwise chunks that nothing names any more go after an hour.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole } from './build/console.ts';
import { DIST, Output } from './build/output.ts';
import { buildPrograms } from './build/programs.ts';
import { buildSchema } from './build/schema.ts';
import { buildSdk } from './build/sdk.ts';
import { fingerprint, isFresh, writeStamp } from './build/stamp.ts';

const STEPS = { programs: buildPrograms, sdk: buildSdk, schema: buildSchema, console: buildConsole } as const;

async function main(flags: ReadonlySet<string>): Promise<number> {
  const startedAt = performance.now();
  if (flags.has('--clean')) rmSync(DIST, { recursive: true, force: true });
  const inputs = fingerprint();
  if (!flags.has('--force') && isFresh(inputs)) return 0;
  rmSync(join(DIST, '.stamp'), { force: true });
  const output = new Output();
  const results = await Promise.allSettled(Object.values(STEPS).map(async (step) => step(output)));
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  for (const failure of failures) console.error(failure instanceof Error ? failure.message : failure);
  if (failures.length > 0) return 1;
  output.sweep();
  writeStamp(inputs);
  console.log(
    `built dist/ in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s (${output.count} files, ${Math.round(output.bytes / 1_024)} KiB)`,
  );
  return 0;
}

process.exitCode = await main(new Set(process.argv.slice(2)));
