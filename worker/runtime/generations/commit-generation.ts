// The transaction that makes a candidate the next generation: its number, its event, and statements of the caller.
import { type Core, commitOrThrow } from '../../core/core.ts';
import { sql, statement } from '../../database/statement.ts';
import type { Statement } from '../../database/unit.ts';
import { recordEvents } from '../../events/event-history.ts';
import { accountWarnings } from '../checks/account-findings.ts';
import type { Generation } from './generation.ts';

export interface CommittedBy {
  readonly actor: string;
  /** Statements that join the transaction. */
  readonly keep?:
    | ((committed: { readonly generation: number; readonly warnings: readonly string[] }) => readonly Statement[])
    | undefined;
}

/** Returns the number. Throws if the storage fails or another process committed meanwhile. */
export async function commitGeneration(
  core: Core,
  generation: Generation,
  { actor, keep, previous }: CommittedBy & { readonly previous: number | null },
): Promise<number> {
  const stored = await core.reader.first(sql.selectFrom('counters').select('value').where('name', '=', 'generation'));
  const number = Number(stored?.value ?? 0) + 1;
  const next = statement(
    sql
      .updateTable('counters')
      .set({ value: number })
      .where('name', '=', 'generation')
      .where('value', '=', number - 1),
    { expect: 1, guard: 'generation' },
  );
  const data = {
    number,
    previous,
    configVersion: generation.loaded.version,
    capabilities: generation.capabilities.all().length,
    endpoints: generation.candidate.endpoints.length,
  };
  const event = {
    type: 'generation.committed',
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    generation: number,
    actor,
    data,
  } as const;
  const kept = keep?.({ generation: number, warnings: accountWarnings(core, generation) }) ?? [];
  await commitOrThrow(core.writer, {
    name: 'generation.committed',
    statements: [next, ...kept, ...recordEvents([event])],
  });
  return number;
}
