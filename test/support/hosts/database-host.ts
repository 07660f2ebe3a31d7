// The database as a host has it, its writer in this thread, and what it says of itself.
import { systemClock } from '../../../shared/time/clock.ts';
import { DatabaseHost } from '../../../worker/database/database-host.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { inlineRunner } from '../../../worker/database/writer.ts';
import type { Cleanup } from '../temporary-project.ts';

export function databaseHost(
  t: Cleanup,
  file: string,
): { readonly host: DatabaseHost; readonly states: readonly string[] } {
  const states: string[] = [];
  const core = new WriterCore({ file, now: Date.now });
  const host = new DatabaseHost({
    file,
    clock: systemClock,
    makeRunner: () => inlineRunner(core),
    onState: (state) => states.push(state.kind === 'failed' ? state.code : state.kind),
  });
  t.after(() => host.close());
  return { host, states };
}
