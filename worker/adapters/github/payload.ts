// What is read of a payload. GitHub's own types (@octokit/webhooks) say what it sends; a delivery is still data from outside, so every
// field may be missing here, and what an arrival cannot do without is asked for by name.
import type { EmitterWebhookEventName } from '@octokit/webhooks';

/** What `svc webhooks register` asks for. Others may be sent as well: they arrive as `other`. */
export const EVENTS = [
  'discussion',
  'discussion_comment',
  'issue_comment',
  'issues',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'push',
  'release',
  'workflow_run',
] as const satisfies readonly EmitterWebhookEventName[];

type Maybe<T> = T | null | undefined;

export interface Person {
  readonly login?: Maybe<string>;
}

/** An issue, a pull request or a discussion. */
export interface Subject {
  readonly number?: Maybe<number>;
  readonly node_id?: Maybe<string>;
  readonly title?: Maybe<string>;
  readonly body?: Maybe<string>;
  readonly user?: Maybe<Person>;
  readonly author_association?: Maybe<string>;
  readonly created_at?: Maybe<string>;
  readonly updated_at?: Maybe<string>;
}

/** A comment of any kind, or a review. */
export interface Comment extends Omit<Subject, 'number' | 'title'> {
  readonly id?: Maybe<number>;
  readonly in_reply_to_id?: Maybe<number>;
  readonly parent_id?: Maybe<number>;
  readonly submitted_at?: Maybe<string>;
}

export interface Payload {
  readonly action?: Maybe<string>;
  readonly repository?: Maybe<{ readonly full_name?: Maybe<string> }>;
  readonly organization?: Maybe<Person>;
  readonly sender?: Maybe<Person>;
  readonly issue?: Maybe<Subject>;
  readonly pull_request?: Maybe<Subject>;
  readonly discussion?: Maybe<Subject>;
  readonly comment?: Maybe<Comment>;
  readonly review?: Maybe<Comment>;
  readonly changes?: Maybe<{ readonly title?: unknown; readonly body?: unknown; readonly [field: string]: unknown }>;
}

/** The value, when it is a text or a number as it has to be. Throws with the name of the field: such a delivery is kept for a person. */
export function needed<T extends string | number>(value: Maybe<T>, like: T, field: string): T {
  if (typeof value !== typeof like || value === undefined || value === null)
    throw new Error(`the payload has no ${field}`);
  return value;
}

/** Text as people wrote it; browsers send CRLF. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '');

/** Epoch milliseconds, of an ISO time. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}
