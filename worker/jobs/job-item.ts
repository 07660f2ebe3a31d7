// The inbox item of a run. It holds a copy of the action, so that a later edit is for later due times.
import { createHash } from 'node:crypto';
import { type Job, type JobPlace, placeOf } from '../../shared/jobs/job.ts';
import type { Delivery } from '../inbox/prepare-item.ts';

/** The slot of the hidden plugin. No configuration may name it. */
export const JOBS_SLOT = 'jobs';
const SAY = `root/${JOBS_SLOT}#task/say`;
const ITEM = `root/${JOBS_SLOT}#task/item`;

/** What the scheduler asks about the serving generation. */
export interface JobTargets {
  /** Full id of an account that the configuration has; undefined if it has none of this name. */
  endpoint(name: string): string | undefined;
  hasCommand(name: string): boolean;
  readonly prefix: string;
  /** Members with a role on a board; undefined if there is no such board, or it is archived. Left out on a host that is no Workroom. */
  readonly board?: ((id: string) => Promise<readonly string[] | undefined>) | undefined;
}

export type MissingTarget =
  | 'endpoint_unknown'
  | 'command_unknown'
  | 'board_unknown'
  | 'member_unknown'
  | 'host_is_no_workroom';

export type JobItem =
  | { readonly kind: 'item'; readonly delivery: Delivery }
  /** The target of the action is not there. */
  | { readonly kind: 'failed'; readonly reason: MissingTarget };

export interface ItemOf {
  readonly job: Job;
  readonly runId: string;
  /** Null: by hand. */
  readonly due: number | null;
  readonly actor: string;
  readonly now: number;
}

export async function jobItem(of: ItemOf, targets: JobTargets): Promise<JobItem> {
  const missing = await missingTarget(of.job, targets);
  return missing === undefined
    ? { kind: 'item', delivery: deliveryOf(of, targets) }
    : { kind: 'failed', reason: missing };
}

function deliveryOf({ job, runId, due, actor, now }: ItemOf, targets: JobTargets): Delivery {
  const { action } = job;
  const lane = job.overlap === 'allow' ? `job/${job.id}/${runId}` : `job/${job.id}`;
  const base = { deliveryId: `job/${job.id}@${due ?? 'hand'}/${runId}`, lane, actor };
  if (action.kind === 'say') {
    const { conversation: id, thread } = action.to;
    const to = { endpoint: endpointOf(action.to, targets), id, ...(thread === undefined ? {} : { thread }) };
    const payload = { kind: 'task', data: { to, text: action.text } } as const;
    return { ...base, endpoint: SAY, capability: SAY, payload };
  }
  if (action.kind === 'item') {
    const { board, title, assign, dueMs } = action;
    const deadline = dueMs === undefined ? undefined : (due ?? now) + dueMs;
    const payload = { kind: 'task', job: job.id, data: { board, title, assign, due: deadline } } as const;
    return { ...base, endpoint: ITEM, capability: ITEM, payload };
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
    ...base,
    endpoint: endpointOf(action.in, targets),
    payload: { kind: 'arrival', arrival, origin: 'job' },
  };
}

/** Why the job could not run now. */
export async function missingTarget(
  { action }: Pick<Job, 'action'>,
  targets: JobTargets,
): Promise<MissingTarget | undefined> {
  if (action.kind === 'item') {
    if (targets.board === undefined) return 'host_is_no_workroom';
    const members = await targets.board(action.board);
    if (members === undefined) return 'board_unknown';
    return action.assign === undefined || members.includes(action.assign) ? undefined : 'member_unknown';
  }
  if (targets.endpoint(placeOf(action).endpoint) === undefined) return 'endpoint_unknown';
  if (action.kind === 'command' && !targets.hasCommand(commandIn(action.line, targets.prefix).name))
    return 'command_unknown';
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
