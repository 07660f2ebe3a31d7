// An account by the name that a person gives: whole, or the short one behind the owner.
import { printable } from '../../shared/config/fault.ts';
import { nearestOrKnown } from '../../shared/config/nearest.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { EndpointRunner } from './endpoint-runner.ts';
import type { Endpoints } from './endpoints.ts';

/** Throws `not_found` with what was asked for and the nearest name. */
export function endpointNamed(endpoints: Pick<Endpoints, 'get' | 'all'>, id: string): EndpointRunner {
  const found = endpoints.get(id) ?? endpoints.all().find(({ spec }) => spec.name === id);
  if (found !== undefined) return found;
  const names = endpoints.all().map(({ spec }) => (id.includes(':') ? spec.id : spec.name));
  throw new SvcError('not_found', `there is no endpoint ${printable(id)}`, {
    hint: nearestOrKnown(id, names) ?? 'the configuration has no account',
  });
}
