// The parts of a payload that the adapter reads, after GitHub's types (@octokit/webhooks).
// A delivery is untrusted input, so every field may be missing. A missing required field is an error that names it.
import type { EmitterWebhookEventName } from '@octokit/webhooks';

/** Events for which `svc webhooks register` subscribes. Others may be sent as well, and arrive as `other`. */
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

/** The value if it is a text or number as required. Otherwise throws an error with the field's name, and the delivery becomes a dead letter. */
export function needed<T extends string | number>(value: Maybe<T>, like: T, field: string): T {
  if (typeof value !== typeof like || value === undefined || value === null)
    throw new Error(`the payload has no ${field}`);
  return value;
}

/** Text as people wrote it. Browsers send CRLF, which becomes LF. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '');

/** Epoch ms of an ISO time. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}
