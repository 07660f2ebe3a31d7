// The inbox item of a run. It holds a copy of the action, so that a later edit is for later due times.
import { createHash } from 'node:crypto';
import type { Job, JobPlace } from '../../shared/jobs/job.ts';
import type { Delivery } from '../inbox/prepare-item.ts';

/** The slot of the hidden plugin. No configuration may name it. */
export const JOBS_SLOT = 'jobs';
const SAY = `root/${JOBS_SLOT}#task/say`;

/** What the scheduler asks about the serving generation. */
export interface JobTargets {
  /** Full id of an account that the configuration has; undefined if it has none of this name. */
  endpoint(name: string): string | undefined;
  hasCommand(name: string): boolean;
  readonly prefix: string;
}

export type JobItem =
  | { readonly kind: 'item'; readonly delivery: Delivery }
  /** The target of the action is not there. */
  | { readonly kind: 'failed'; readonly reason: 'endpoint_unknown' | 'command_unknown' };

export interface ItemOf {
  readonly job: Job;
  readonly runId: string;
  /** Null: by hand. */
  readonly due: number | null;
  readonly actor: string;
  readonly now: number;
}

export function jobItem({ job, runId, due, actor, now }: ItemOf, targets: JobTargets): JobItem {
  const { action } = job;
  const missing = missingTarget(job, targets);
  if (missing !== undefined) return { kind: 'failed', reason: missing };
  const lane = job.overlap === 'allow' ? `job/${job.id}/${runId}` : `job/${job.id}`;
  const base = { deliveryId: `job/${job.id}@${due ?? 'hand'}/${runId}`, lane, actor };
  if (action.kind === 'say') {
    const { conversation: id, thread } = action.to;
    const to = { endpoint: endpointOf(action.to, targets), id, ...(thread === undefined ? {} : { thread }) };
    const payload = { kind: 'task', data: { to, text: action.text } } as const;
    return { kind: 'item', delivery: { ...base, endpoint: SAY, capability: SAY, payload } };
  }
  const { conversation: id, thread } = action.in;
  const { name, rest } = commandIn(action.line, targets.prefix);
  const arrival = {
    id: base.deliveryId,
    sentAt: due ?? now,
    conversation: { id, kind: 'group', ...(thread === undefined ? {} : { thread }) },
    user: { id: `job/${job.id}`, name: 'job', admin: true },
    kind: 'command',
    name,
    args: {},
    line: rest,
  } as const;
  return {
    kind: 'item',
    delivery: {
      ...base,
      endpoint: endpointOf(action.in, targets),
      payload: { kind: 'arrival', arrival, origin: 'job' },
    },
  };
}

/** Why the job could not run now. */
export function missingTarget({ action }: Pick<Job, 'action'>, targets: JobTargets) {
  const place = action.kind === 'say' ? action.to : action.in;
  if (targets.endpoint(place.endpoint) === undefined) return 'endpoint_unknown' as const;
  if (action.kind === 'command' && !targets.hasCommand(commandIn(action.line, targets.prefix).name))
    return 'command_unknown' as const;
  return undefined;
}

/** A job may write its line with or without the prefix. */
export function commandIn(line: string, prefix: string): { readonly name: string; readonly rest: string } {
  const typed = line.trim();
  const [, name = '', rest = ''] =
    /^(\S+)\s*([\s\S]*)$/.exec(typed.startsWith(prefix) ? typed.slice(prefix.length) : typed) ?? [];
  return { name, rest };
}

const endpointOf = ({ endpoint }: JobPlace, targets: JobTargets): string => targets.endpoint(endpoint) ?? endpoint;

/** The key of a due row's timing, jitter included. */
export const rowDigest = (timing: string, jitterMs: number): string =>
  createHash('sha256').update(`${timing} ${jitterMs}`).digest('hex').slice(0, 32);
