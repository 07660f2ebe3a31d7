// An account by the name that a person gives: whole, or the short one behind the owner.
import { nearestOrKnown } from '../../shared/config/nearest.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { EndpointRunner } from './endpoint-runner.ts';
import type { Endpoints } from './endpoints.ts';

/** Throws `not_found` with the nearest name, not with what was asked for: what a client sent stands in no answer (P1 of `http/problem.ts`). */
export function endpointNamed(endpoints: Pick<Endpoints, 'get' | 'all'>, id: string): EndpointRunner {
  const found = endpoints.get(id) ?? endpoints.all().find(({ spec }) => spec.name === id);
  if (found !== undefined) return found;
  const names = endpoints.all().map(({ spec }) => (id.includes(':') ? spec.id : spec.name));
  throw new SvcError('not_found', 'there is no endpoint of this name', {
    hint: nearestOrKnown(id, names) ?? 'the configuration has no account',
  });
}
