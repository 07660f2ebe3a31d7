// Operator actions on accounts: list, show, enable, disable, reconnect. A change is committed before it takes effect.
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { EndpointControl } from '../http/api/endpoints-api.ts';
import { type EndpointState, stepEndpoint } from './endpoint-machine.ts';
import { endpointNamed } from './endpoint-named.ts';
import type { EndpointRunner } from './endpoint-runner.ts';
import { type Endpoints, REVISION_GUARD } from './endpoints.ts';

type Change = Parameters<EndpointControl['act']>[2];
/** Each retry means that another operator's change came first, so this bounds concurrent changes of one account. */
const MOST_TRIES = 20;

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
      override: endpoints.override(spec.id).enabled ?? null,
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
  /** The first state of the account after the operator's action. */
  const decided = ({ state }: Viewed, kind: 'enabled' | 'disabled' | 'reconnect'): EndpointState => {
    const at = { now: core.clock.now(), monotonic: core.clock.monotonic(), random: Math.random };
    return stepEndpoint(state, { kind }, at).state;
  };
  const revisionOf = (runner: EndpointRunner): string => String(endpoints.override(runner.spec.id).revision);
  const refuseOther = (runner: EndpointRunner, revision: string | undefined): void => {
    if (revision !== undefined && revision !== revisionOf(runner))
      throw new SvcError('precondition_failed', `${runner.spec.id} has changed`);
  };
  /** False if another change was stored meanwhile. */
  const store = async (runner: EndpointRunner, enabled: boolean, { caller, keep }: Change): Promise<boolean> => {
    const { spec } = runner;
    const seen = endpoints.override(spec.id).revision;
    const head = { at: core.clock.now(), runtimeId: core.runtimeId, endpoint: spec.id, actor: caller.actor };
    const event = enabled
      ? ({ ...head, type: 'endpoint.enabled', data: {} } as const)
      : ({ ...head, type: 'endpoint.disabled', data: {} } as const);
    const state = decided(runner, enabled ? 'enabled' : 'disabled');
    const answer = await core.writer.commit({
      name: enabled ? 'endpoint.enable' : 'endpoint.disable',
      statements: [
        endpoints.enableStatement(spec.id, enabled, seen),
        ...(keep?.({ ...view({ spec, state }, true), enabled, override: enabled }) ?? []),
        ...recordEvents([event]),
      ],
    });
    if (answer.kind === 'refused') {
      if (answer.guard !== REVISION_GUARD) throw new Error(`the word on ${spec.id} was refused: ${answer.detail}`);
      return false;
    }
    endpoints.applied(spec.id, enabled, seen);
    return true;
  };
  /** A caller without a revision means the account as it is. Such a change is retried on top of a concurrent one. */
  const setEnabled = async (id: string, enabled: boolean, change: Change): Promise<EndpointRunner> => {
    for (let tries = change.revision === undefined ? MOST_TRIES : 1; tries > 0; tries -= 1) {
      const runner = endpointNamed(endpoints, id); // may be another runner after a reload
      if (await store(runner, enabled, change)) return endpoints.get(runner.spec.id) ?? runner;
    }
    throw new SvcError(
      change.revision === undefined ? 'conflict' : 'precondition_failed',
      `${id} was changed by somebody else`,
    );
  };
  return {
    async list({ after, limit, texts }) {
      // The cursor is an id, not an offset: a reload between two pages may remove that account, but moves no other.
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
    async act(id, action, change) {
      const runner = endpointNamed(endpoints, id);
      const { revision, keep } = change;
      refuseOther(runner, revision);
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
      return view(await setEnabled(id, action === 'enable', change), true);
    },
  };
}
