// The readiness checks, computed from current facts. Pure: no network call, no wait, no clock.
import type { ReadinessCheck } from '../../shared/api/serving/readiness.ts';
import type { ErrorCode } from '../../shared/error-codes.ts';
import { endpointId } from '../../shared/identifiers.ts';
import type { DatabaseState } from '../database/database-host.ts';
import type { EndpointStateName } from '../endpoints/endpoint-machine.ts';

export interface ReadinessFacts {
  readonly database: DatabaseState;
  readonly generation: number | null;
  /** Why ingress refuses messages for lack of disk space. */
  readonly noRoom: string | undefined;
  /** Why the last candidate generation was not committed. */
  readonly failure:
    | { readonly code: ErrorCode; readonly message: string; readonly hint?: string | undefined }
    | undefined;
  readonly requirements: {
    readonly database: boolean;
    readonly endpoints: readonly { readonly owner: string; readonly name: string }[];
    readonly agents: readonly string[];
    readonly workroom?: boolean;
  };
  /** Undefined on a host that is no Workroom. */
  readonly journal?: JournalFact | undefined;
  readonly endpoint: (
    id: string,
  ) =>
    | { readonly state: EndpointStateName; readonly reason: string | undefined; readonly remedy: string | undefined }
    | undefined;
}

/** Whether the journal of a Workroom takes events. */
export type JournalFact =
  | { readonly kind: 'opening' | 'open' }
  | { readonly kind: 'closed'; readonly reason: string; readonly remedy: string };

export type Finding = Omit<ReadinessCheck, 'since'>;

export function evaluate(facts: ReadinessFacts): readonly Finding[] {
  const { requirements } = facts;
  return [
    runtimeFinding(facts),
    ...(requirements.database ? [databaseFinding(facts)] : []),
    ...(requirements.workroom === true && facts.journal !== undefined ? [journalFinding(facts.journal)] : []),
    ...requirements.endpoints.map(({ owner, name }) => endpointFinding(facts, endpointId(owner, name))),
    ...requirements.agents.map((binding) => agentFinding(binding)),
  ];
}

function runtimeFinding({ generation, failure, database }: ReadinessFacts): Finding {
  const base = { component: 'runtime', check: 'committed' } as const;
  if (generation !== null && database.kind !== 'failed')
    return { ...base, ready: true, reason: `generation ${generation} serves`, remediation: '' };
  if (generation !== null)
    return {
      ...base,
      ready: false,
      reason: `generation ${generation} serves, but nothing can be stored`,
      remediation: 'see the check of the database',
    };
  if (database.kind !== 'open')
    return {
      ...base,
      ready: false,
      reason: 'no generation without a database',
      remediation: 'see the check of the database',
    };
  return {
    ...base,
    ready: false,
    reason: failure?.message ?? 'the first generation is being assembled',
    remediation: failure === undefined ? '' : remedyOf(failure),
  };
}

/** A change that needs a restart is no fault, so the remedy is the restart. */
const remedyOf = ({ code, hint = '' }: NonNullable<ReadinessFacts['failure']>): string =>
  code === 'restart_required' ? hint : 'mend what the reason says, then: svc runtime reload';

function databaseFinding({ database: state, noRoom }: ReadinessFacts): Finding {
  const base = { component: 'database', check: 'initialized' } as const;
  switch (state.kind) {
    case 'open':
      if (noRoom !== undefined)
        return { ...base, ready: false, reason: `nothing more is taken in: ${noRoom}`, remediation: ROOM_REMEDY };
      return { ...base, ready: true, reason: 'open and at the current schema', remediation: '' };
    case 'opening':
      return { ...base, ready: false, reason: 'being opened', remediation: '' };
    case 'failed':
      return {
        ...base,
        ready: false,
        reason: noRoom === undefined ? state.reason : `${state.reason}; ${noRoom}`, // so that the operator frees enough space at once
        remediation: state.hint ?? 'see the runtime log',
      };
  }
}

function journalFinding(journal: JournalFact): Finding {
  const base = { component: 'workroom', check: 'journal_open' } as const;
  switch (journal.kind) {
    case 'open':
      return { ...base, ready: true, reason: 'the journal is complete', remediation: '' };
    case 'opening':
      return { ...base, ready: false, reason: 'the journal is being opened', remediation: '' };
    case 'closed':
      return { ...base, ready: false, reason: journal.reason, remediation: journal.remedy };
  }
}

const ROOM_REMEDY = 'free disk space, or change disk in svc.config.yml, then: svc runtime reload';

function endpointFinding({ endpoint, generation }: ReadinessFacts, id: string): Finding {
  const base = { component: `endpoint:${id}`, check: 'admission_open' } as const;
  const known = endpoint(id);
  if (known === undefined) {
    if (generation === null)
      return {
        ...base,
        ready: false,
        reason: 'no generation is committed',
        remediation: 'see the check of the runtime',
      };
    return {
      ...base,
      ready: false,
      reason: 'not in the serving generation',
      remediation:
        'add it under plugins in svc.config.yml, or remove it from http.readiness.endpoints; then: svc runtime reload',
    };
  }
  switch (known.state) {
    case 'connecting':
    case 'online':
    case 'degraded':
    case 'offline':
      return { ...base, ready: true, reason: `admits deliveries (${known.state})`, remediation: '' };
    case 'disabled':
      return { ...base, ready: false, reason: 'disabled', remediation: `svc endpoints enable ${id}` };
    case 'failed':
      return {
        ...base,
        ready: false,
        reason: known.reason ?? 'the account failed',
        remediation:
          known.remedy === undefined || known.remedy === ''
            ? `mend the account, then: svc endpoints reconnect ${id}`
            : known.remedy,
      };
  }
}

const agentFinding = (binding: string): Finding => ({
  component: `agent:${binding}`,
  check: 'binding_configured',
  ready: false,
  reason: 'no such binding is configured',
  remediation: 'remove it from http.readiness.agents',
});
