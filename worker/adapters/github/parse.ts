// Turns a verified delivery into one event, with X-GitHub-Delivery as its id. Pure.
//
//   message, edited, deleted   bodies of issues, pull requests and discussions, comments, reviews with a text
//   other                      everything else, type `<event>.<action>` (`push`, `release.published`, `issues.labeled`), payload unchanged
//
//   GITHUB-PARSE-1  There are no `reaction` events, because GitHub sends no webhooks for reactions.
//   GITHUB-PARSE-2  Actions of the account itself are marked as its own. A leading mention is removed from the text. A mention in code does not
//                   count.
//   GITHUB-PARSE-3  A person's id is the login, which mentions need. An abandoned login can be taken by another person.
//   GITHUB-PARSE-4  `admin` means that author_association is OWNER. Members and collaborators may lack write access, so they are not admins.
import type { Arrival, RawRequest } from '../../sdk/index.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import { UNSEEN } from '../../sdk/text/unseen-edges.ts';
import type { Account } from './config.ts';
import { withoutMarks } from './marker.ts';
import { type Comment, needed, type Payload, type Subject, textOf, timeOf } from './payload.ts';

type Login = Pick<Account, 'login'>;
type Base = Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'>;
type Said = 'message' | 'edited' | 'deleted';

/** Throws if the body is not JSON, or if a comment has no id. Such a delivery becomes a dead letter. */
export function parse(request: RawRequest, account: Login): readonly Arrival[] {
  const { 'x-github-event': event = '', 'x-github-delivery': id = '' } = request.headers;
  const raw = safeJson(bodyText(request));
  if (typeof raw !== 'object' || raw === null) throw new Error('the payload is not a JSON object');
  const payload = raw as Payload;
  const at = { id, sentAt: request.receivedAt };
  return [
    said(event, payload, { ...at, account }) ?? {
      ...baseOf(payload, at, account),
      kind: 'other',
      type: typeOf(event, payload),
      raw,
    },
  ];
}

/** A webhook may be set to form encoding, with the same JSON in the field `payload`. */
function bodyText({ headers, body }: RawRequest): string {
  const text = new TextDecoder().decode(body);
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
}

const typeOf = (event: string, { action }: Payload): string =>
  typeof action === 'string' && action !== '' ? `${event}.${action}` : event;

interface Delivery {
  readonly id: string;
  readonly sentAt: number;
  readonly account: Login;
}

const SAID: Readonly<Record<string, Said>> = {
  opened: 'message',
  created: 'message',
  submitted: 'message',
  edited: 'edited',
  deleted: 'deleted',
};

/** The event for a text that a person wrote. Undefined for other deliveries. */
function said(event: string, payload: Payload, delivery: Delivery): Arrival | undefined {
  const kind = SAID[payload.action ?? ''];
  const { comment, review } = payload;
  if (kind === undefined) return undefined;
  switch (event) {
    case 'issues':
    case 'pull_request':
      return ofSubject({ payload, subject: payload.issue ?? payload.pull_request, kind, message: 'body' }, delivery);
    case 'discussion': {
      const message = `discussion:${payload.discussion?.node_id ?? ''}`;
      return ofSubject({ payload, subject: payload.discussion, kind, message }, delivery);
    }
    case 'issue_comment':
      return arrival({ payload, text: comment, kind, message: `comment:${idOf(comment)}` }, delivery);
    case 'pull_request_review_comment': {
      const thread = `review-comment:${comment?.in_reply_to_id ?? idOf(comment)}`;
      return arrival({ payload, text: comment, kind, message: `review-comment:${idOf(comment)}`, thread }, delivery);
    }
    case 'discussion_comment': {
      const thread = `discussion-thread:${comment?.parent_id ?? idOf(comment)}`;
      const message = `discussion-comment:${needed(comment?.node_id, '', 'comment.node_id')}`;
      return arrival({ payload, text: comment, kind, message, thread }, delivery);
    }
    case 'pull_request_review':
      if (textOf(review?.body) === '') return undefined;
      return arrival(
        { payload, text: review, kind, message: `review:${needed(review?.id, 0, 'review.id')}` },
        delivery,
      );
    default:
      return undefined;
  }
}

interface Found {
  readonly payload: Payload;
  readonly text: Comment | Subject | null | undefined;
  readonly kind: Said;
  readonly message: string;
  readonly thread?: string;
}

/** A change of only the title or branch is not an edit of the text. If there is no text, the title counts as the text. */
function ofSubject(
  { subject, ...found }: Omit<Found, 'text'> & { readonly subject: Subject | null | undefined },
  delivery: Delivery,
): Arrival | undefined {
  const { changes } = found.payload;
  const isOther = changes?.body === undefined && Object.keys(changes ?? {}).length > 0;
  if (found.kind === 'edited' && isOther) return undefined;
  const body = textOf(subject?.body) === '' ? subject?.title : subject?.body;
  return arrival({ ...found, text: { ...subject, body } }, delivery);
}

function arrival({ payload, text, kind, message, thread }: Found, delivery: Delivery): Arrival {
  const written =
    kind === 'message' ? (text?.created_at ?? (text as Comment | undefined)?.submitted_at) : text?.updated_at;
  const base = baseOf(payload, { id: delivery.id, sentAt: timeOf(written) ?? delivery.sentAt }, delivery.account);
  const where = { ...base, conversation: { ...base.conversation, ...(thread === undefined ? {} : { thread }) } };
  if (kind === 'deleted') return { ...where, kind, message };
  const admin = text?.author_association === 'OWNER' && text.user?.login === base.user.id;
  return {
    ...where,
    user: { ...base.user, admin },
    kind,
    message,
    ...spokenTo(withoutMarks(textOf(text?.body)), delivery.account),
  };
}

function baseOf(payload: Payload, { id, sentAt }: Pick<Delivery, 'id' | 'sentAt'>, { login }: Login): Base {
  const who = payload.sender?.login ?? 'github';
  const isSelf = who.toLowerCase() === login.toLowerCase();
  const user = { id: who, name: who, admin: false, ...(isSelf ? { self: true } : {}) };
  return { id, sentAt, conversation: conversationOf(payload), user };
}

function conversationOf({ repository, organization, issue, pull_request, discussion }: Payload): Base['conversation'] {
  const place = repository?.full_name ?? organization?.login ?? 'github';
  const subject = issue ?? pull_request ?? discussion;
  if (subject === undefined || subject === null || repository === undefined)
    return { id: place, kind: 'group', name: place };
  const number = needed(subject.number, 0, 'number');
  const isDiscussion = subject === discussion;
  const title = textOf(subject.title);
  return {
    id: `${place}${isDiscussion ? '/discussions' : ''}#${number}`,
    kind: 'group',
    ...(title === '' ? {} : { name: title }),
  };
}

const idOf = (comment: Payload['comment']): number => needed(comment?.id, 0, 'comment.id');

function spokenTo(text: string, { login }: Login): { readonly text: string; readonly addressed: boolean } {
  const name = login.replace('[bot]', '').replaceAll(/[^\w-]/g, '');
  const first = new RegExp(`^[${UNSEEN}]*@${name}(?![\\w-])[:,${UNSEEN}]*`, 'iu').exec(text)?.[0];
  if (first !== undefined) return { text: text.slice(first.length), addressed: true };
  const prose = text.replace(/(`{3,}|~{3,})[\s\S]*?(\1|$)|`[^`\n]*`/g, ' ');
  return { text, addressed: new RegExp(`(?<![\\w/-])@${name}(?![\\w-])`, 'i').test(prose) };
}
