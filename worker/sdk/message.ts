// The message model: who and where, what comes in, and what goes out. All of it is plain JSON, so that it can be stored.

export interface UserRef {
  /** `<owner>:<name>` of the account through which this person is seen. */
  readonly endpoint: string;
  readonly id: string;
}

/** A place where people and the bot write, by the ids of its platform. */
export interface ConversationRef {
  readonly endpoint: string;
  readonly id: string;
  readonly thread?: string;
}

/** A person as the platform shows them now. */
export interface User extends UserRef {
  readonly name: string;
  /** The platform says that this person administers the conversation. */
  readonly admin: boolean;
}

/** The place that an item came from. */
export interface Conversation extends ConversationRef {
  readonly kind: 'private' | 'group';
  readonly name?: string;
}

/** A message of the platform, or one of ours (`sent`) that is perhaps not out yet: the outbox fills in the platform's id. */
export type MessageRef =
  | { readonly endpoint: string; readonly conversation: string; readonly id: string }
  | { readonly sent: string };

/** A file by its content; its bytes come through `ctx.readFile`. */
export interface FileRef {
  readonly id: string;
  readonly name: string;
  readonly mime: string;
  readonly bytes: number;
}

/** How a piece of text is set off. */
export type Mark = 'bold' | 'italic' | 'strike' | 'code';

/** A piece of text with what it means. No segment holds markup: a renderer escapes all of it for its platform. */
export type Segment =
  | { readonly kind: 'code'; readonly text: string; readonly language?: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly marks?: readonly Mark[] }
  | { readonly kind: 'link'; readonly text: string; readonly url: string }
  | { readonly kind: 'mention'; readonly user: UserRef | 'everyone' };

/** What `md` makes. */
export interface Rich {
  readonly segments: readonly Segment[];
}

/** Made by `action.button(…)`; its data stays in the database, only a token goes over the wire. */
export interface Button {
  readonly label: string;
  readonly action: string;
  readonly data: unknown;
  readonly style?: 'primary' | 'danger';
}

/** A message to send, part by part; at least one part is there. */
export interface Content {
  readonly text?: string | Rich;
  readonly buttons?: readonly Button[];
  readonly files?: readonly FileRef[];
  readonly replyTo?: MessageRef;
  /** Opens a thread under this message, or goes on in it. */
  readonly thread?: MessageRef;
  /** Shown to this person alone, where the platform can. */
  readonly only?: UserRef;
  /** When a send may have happened or not: send once more (default), or hold it for a person to decide. */
  readonly unsure?: 'again' | 'hold';
}

/** What a handler may answer. A plain string is literal text: nothing in it is markup or a mention. */
export type Body = string | Rich | Content;

/** A message that somebody wrote. */
export interface Message {
  readonly ref: MessageRef;
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly files: readonly FileRef[];
  readonly replyTo?: MessageRef;
  /** Said to the bot: in private, by mention, or by a reply to it. */
  readonly addressed: boolean;
  readonly sentAt: number;
}

/** What `p.on` can listen to, by kind. */
export interface Inbound {
  readonly message: Message;
  readonly edited: Message;
  readonly deleted: { readonly ref: MessageRef };
  readonly reaction: { readonly ref: MessageRef; readonly emoji: string; readonly on: boolean };
  readonly member: { readonly who: UserRef; readonly change: 'joined' | 'left' };
  /** What only this platform has, as it came. */
  readonly other: { readonly type: string; readonly raw: unknown };
}

const PERSON = Symbol.for('svc.person');

/** The reference, marked as one to a person: it looks like one to a conversation. JSON does not keep the mark, schemas put it back. */
export function personRef<R extends object>(ref: R): R {
  return Object.defineProperty(ref, PERSON, { value: true });
}

/** True for a `User`, and for a reference that a schema or the host made to a person. */
export function isPerson(ref: ConversationRef | UserRef): ref is UserRef {
  return PERSON in ref || 'admin' in ref;
}

/** A mention of a person, or of all that are here: the only way to make one. */
export function mention(user: UserRef | 'everyone'): Segment {
  return { kind: 'mention', user: user === 'everyone' ? user : { endpoint: user.endpoint, id: user.id } };
}

/**
 * The body in its long form. What a person wrote, said again, keeps its files, but not what it answers to; what is put beside the segments of
 * `md` counts as beside a text.
 */
export function toContent(body: Body | Message): Content {
  if (typeof body === 'string') return { text: body };
  if (!('segments' in body)) return body;
  const text = { segments: body.segments };
  return 'ref' in body ? { text, files: body.files } : { ...body, text };
}

/** The text alone, as a person reads it where there is no markup. */
export function plainText(text: string | readonly Segment[]): string {
  return typeof text === 'string' ? text : text.map(plainSegment).join('');
}

function plainSegment(segment: Segment): string {
  switch (segment.kind) {
    case 'text':
    case 'code':
      return segment.text;
    case 'quote':
      return segment.text.replace(/^/gm, '> ');
    case 'link':
      return segment.text === segment.url || segment.text === '' ? segment.url : `${segment.text} (${segment.url})`;
    case 'mention':
      return segment.user === 'everyone' ? '@everyone' : `@${segment.user.id}`;
  }
}
