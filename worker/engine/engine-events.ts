// Reports of plugins and accounts: a log line, and an event if the storage takes it.
import { coerceError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { EndpointState } from '../endpoints/endpoint-machine.ts';
import type { EndpointSpec } from '../endpoints/endpoint-runner.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { PluginFailed } from '../handling/run/failure.ts';

const MESSAGES: Readonly<Record<PluginFailed['during'], string>> = {
  handling: 'handler failed',
  route: 'plugin route failed',
  webhook: 'plugin webhook failed',
};

/** The event leaves out the error, which may quote user content. Log and item have it. */
export function tellPluginFailed(core: Core, failed: PluginFailed): void {
  const { capability, slot, generation, during, item, error, outcome } = failed;
  const plugin = `root/${slot}`;
  core.log.warn({ plugin, capability, generation, item, err: error, outcome }, MESSAGES[during]);
  const code = coerceError(error).code;
  const data = { plugin, capability, during, code, reason: 'see the log and the item' };
  tell(core, { type: 'plugin.failed', at: core.clock.now(), runtimeId: core.runtimeId, generation, data });
}

export interface EndpointChanged {
  readonly spec: EndpointSpec;
  readonly before: EndpointState;
  readonly after: EndpointState;
  readonly generation: number | undefined;
}

export function tellEndpointChanged(core: Core, { spec, before, after, generation }: EndpointChanged): void {
  const error = after.state === 'offline' || after.state === 'failed' ? after.lastError : undefined;
  const change = { from: before.state, to: after.state };
  const line = { endpoint: spec.id, ...change, reason: error?.reason, remedy: error?.remedy };
  core.log[error === undefined ? 'info' : 'warn'](line, 'endpoint changed');
  const data = { ...change, failures: after.failures, code: error?.code ?? null, reason: error?.reason ?? null };
  const head = { at: core.clock.now(), runtimeId: core.runtimeId, generation, endpoint: spec.id };
  tell(core, { ...head, type: 'endpoint.state_changed', data });
}

/** A failed write is ignored: the log has the change, and the state itself lives in memory. */
function tell(core: Core, event: NewEvent): void {
  core.writer.commit({ name: event.type, statements: recordEvents([event]) }).catch(() => {});
}
