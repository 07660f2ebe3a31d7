// What an operator does with accounts: look, enable, disable, reconnect. The word is stored before it is followed.
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, commitOrThrow } from '../core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { EndpointControl } from '../http/host-port.ts';
import { type EndpointState, stepEndpoint } from './endpoint-machine.ts';
import { endpointNamed } from './endpoint-named.ts';
import type { EndpointRunner } from './endpoint-runner.ts';
import type { Endpoints } from './endpoints.ts';

type Viewed = Pick<EndpointRunner, 'spec' | 'state'>;

export function createEndpointControl(core: Core, endpoints: Endpoints): EndpointControl {
  const view = ({ spec, state }: Viewed, texts: boolean): Readonly<Record<string, unknown>> => {
    return {
      id: spec.id,
      owner: spec.owner,
      name: spec.name,
      adapter: spec.adapter.name,
      state: state.state,
      since: new Date(state.since).toISOString(),
      enabled: endpoints.isEnabled(spec),
      configured: spec.enabled,
      reconnects: state.reconnects,
      failures: state.failures,
      lastError:
        state.lastError === undefined
          ? null
          : {
              at: new Date(state.lastError.at).toISOString(),
              code: state.lastError.code,
              ...(texts ? { reason: state.lastError.reason, remedy: state.lastError.remedy ?? null } : {}),
            },
    };
  };
  /** What the account comes to by the operator's word, at first. */
  const decided = ({ state }: Viewed, kind: 'enabled' | 'disabled' | 'reconnect'): EndpointState => {
    const at = { now: core.clock.now(), monotonic: core.clock.monotonic(), random: Math.random };
    return stepEndpoint(state, { kind }, at).state;
  };
  const revisionOf = (runner: EndpointRunner): string => String(endpoints.override(runner.spec.id).revision);
  return {
    async list({ after, limit, texts }) {
      // The cursor is an id: a reload between two pages may take the account away that it names, and move none that stays.
      const all = endpoints.all().toSorted((one, other) => (one.spec.id < other.spec.id ? -1 : 1));
      const left = after === undefined ? all : all.filter(({ spec }) => spec.id > after);
      const page = left.slice(0, limit);
      const last = page.at(-1);
      return {
        endpoints: page.map((runner) => view(runner, texts)),
        total: all.length,
        ...(left.length > limit && last !== undefined ? { next: last.spec.id } : {}),
      };
    },
    async show(id, texts) {
      const runner = endpointNamed(endpoints, id);
      return { endpoint: view(runner, texts), revision: revisionOf(runner) };
    },
    async act(id, action, { caller, revision, keep }) {
      const runner = endpointNamed(endpoints, id);
      const seen = endpoints.override(runner.spec.id).revision;
      if (revision !== undefined && revision !== String(seen))
        throw new SvcError('precondition_failed', `${runner.spec.id} has changed`);
      if (action === 'reconnect') {
        if (runner.state.state === 'disabled')
          throw new SvcError('conflict', `${runner.spec.id} is disabled`, {
            hint: `svc endpoints enable ${runner.spec.name}`,
          });
        const statements = keep?.(view({ spec: runner.spec, state: decided(runner, 'reconnect') }, true)) ?? [];
        if (statements.length > 0) await commitOrThrow(core.writer, { name: 'endpoint.reconnect', statements });
        runner.reconnect();
        return view(runner, true);
      }
      const enabled = action === 'enable';
      const head = { at: core.clock.now(), runtimeId: core.runtimeId, endpoint: runner.spec.id, actor: caller.actor };
      const event = enabled
        ? ({ ...head, type: 'endpoint.enabled', data: {} } as const)
        : ({ ...head, type: 'endpoint.disabled', data: {} } as const);
      const answer = await core.writer.commit({
        name: `endpoint.${action}`,
        statements: [
          endpoints.enableStatement(runner.spec.id, enabled, seen),
          ...(keep?.({
            ...view({ spec: runner.spec, state: decided(runner, enabled ? 'enabled' : 'disabled') }, true),
            enabled,
          }) ?? []),
          ...recordEvents([event]),
        ],
      });
      if (answer.kind === 'refused')
        throw new SvcError(
          revision === undefined ? 'conflict' : 'precondition_failed',
          `${runner.spec.id} was changed by somebody else`,
        );
      endpoints.applied(runner.spec.id, enabled, seen);
      return view(runner, true);
    },
  };
}
