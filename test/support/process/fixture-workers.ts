// Supervisors over workers of test/support/fixture-programs, which are bundled once, before the tests of a file.
import { before } from 'node:test';
import type { Cleanup } from '../temporary-project.ts';
import { bundlePrograms } from './bundle.ts';
import { fixtureProgram } from './fixture-programs.ts';
import { type Supervised, type SupervisedOptions, startSupervisor } from './supervised.ts';

export type Supervise<W extends string> = (t: Cleanup, worker: W, options?: Partial<SupervisedOptions>) => Supervised;

/** What starts a supervisor over one of these workers, by name, or over another program, by path. */
export function overWorkers<W extends string>(
  workers: readonly W[],
  given: Pick<SupervisedOptions, 'settings'> = {},
): Supervise<W> {
  let programs: ReadonlyMap<string, string>;
  before(async () => {
    programs = await bundlePrograms(['supervisor/main.ts', ...workers.map(fixtureProgram)]);
  });
  return (t, worker, options = {}) =>
    startSupervisor(t, {
      supervisor: programs.get('supervisor-main') ?? '',
      worker: programs.get(worker) ?? worker,
      ...options,
      settings: { ...given.settings, ...options.settings },
    });
}
