// Finds an account by its full name (`<owner>:<name>`) or its short name.
import { nearestOrKnown } from '../../shared/config/nearest.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { EndpointRunner } from './endpoint-runner.ts';
import type { Endpoints } from './endpoints.ts';

/** Throws `not_found` with the nearest known name. The error leaves out the requested name, because answers never echo client input. */
export function endpointNamed(endpoints: Pick<Endpoints, 'get' | 'all'>, id: string): EndpointRunner {
  const found = endpoints.get(id) ?? endpoints.all().find(({ spec }) => spec.name === id);
  if (found !== undefined) return found;
  const names = endpoints.all().map(({ spec }) => (id.includes(':') ? spec.id : spec.name));
  throw new SvcError('not_found', 'there is no endpoint of this name', {
    hint: nearestOrKnown(id, names) ?? 'the configuration has no account',
  });
}
