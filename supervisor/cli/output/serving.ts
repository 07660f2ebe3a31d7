// Checks that a generation serves. Without one, lists of served items are empty, whatever the configuration names.
import { SvcError } from '../../../shared/svc-error.ts';
import type { HostClient } from '../command.ts';
import { shown } from './printable.ts';

interface Status {
  readonly generation?: number | null;
  readonly reasons?: readonly string[];
  readonly lastFailure?: { readonly reason: string | null } | null;
}

/** Throws `endpoint_unavailable` with the reason if no generation serves. */
export async function requireGeneration(host: HostClient): Promise<void> {
  const { generation, reasons = [], lastFailure } = (await host.request('GET', '/api/system/status')).body as Status;
  if (generation !== null) return;
  const reason = lastFailure?.reason ?? reasons.join('; ');
  throw new SvcError(
    'endpoint_unavailable',
    `no generation serves: ${reason === '' ? 'the host starts' : shown(reason)}`,
    {
      hint: 'svc runtime status',
    },
  );
}

/** Replaces an "unavailable" error about one account by the cause, if no generation serves at all. */
export async function orNotServing<T>(host: HostClient, answer: Promise<T>): Promise<T> {
  return answer.catch(async (error: unknown) => {
    if (error instanceof SvcError && error.code === 'endpoint_unavailable') await requireGeneration(host);
    throw error;
  });
}
