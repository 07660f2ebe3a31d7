// The message model: people, conversations, incoming and outgoing messages. All of it is plain JSON, so the host can store it.

export interface UserRef {
  /** `<owner>:<name>` of the account through which the bot meets this person. */
  readonly endpoint: string;
  readonly id: string;
}

/** A conversation, by the ids of its platform. */
export interface ConversationRef {
  readonly endpoint: string;
  readonly id: string;
  readonly thread?: string;
}

/** A person, with the current name on the platform. */
export interface User extends UserRef {
  readonly name: string;
  /** True if this person is an admin of the conversation on its platform. */
  readonly admin: boolean;
}

/** The conversation that an item came from. */
export interface Conversation extends ConversationRef {
  readonly kind: 'private' | 'group';
  readonly name?: string;
}

/** A message of the platform, or one of the bot's own (`sent`), perhaps not sent yet: the outbox fills in the platform's id. */
export type MessageRef =
  | { readonly endpoint: string; readonly conversation: string; readonly id: string }
  | { readonly sent: string };

/** A reference to a file. `ctx.readFile` gives its bytes. */
export interface FileRef {
  readonly id: string;
  readonly name: string;
  readonly mime: string;
  readonly bytes: number;
}

/** The formatting of a piece of text. */
export type Mark = 'bold' | 'italic' | 'strike' | 'code';

/** A piece of text with its meaning. No segment holds markup: a renderer escapes its text for the platform. */
export type Segment =
  | { readonly kind: 'code'; readonly text: string; readonly language?: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly marks?: readonly Mark[] }
  | { readonly kind: 'link'; readonly text: string; readonly url: string }
  | { readonly kind: 'mention'; readonly user: UserRef | 'everyone' };

/** Formatted text, made by `md`. */
export interface Rich {
  readonly segments: readonly Segment[];
}

/** A button, made by `action.button(…)`. Its data stays in the database; only a token goes to the platform. */
export interface Button {
  readonly label: string;
  readonly action: string;
  readonly data: unknown;
  readonly style?: 'primary' | 'danger';
}

/** A message to send. At least one member is set. */
export interface Content {
  readonly text?: string | Rich;
  readonly buttons?: readonly Button[];
  readonly files?: readonly FileRef[];
  readonly replyTo?: MessageRef;
  /** Opens a thread under this message, or continues that thread. */
  readonly thread?: MessageRef;
  /** Shown only to this person, if the platform can do that. */
  readonly only?: UserRef;
  /** If the outcome of a send is unknown: 'again' (default) sends once more, 'hold' waits for a person to decide. */
  readonly unsure?: 'again' | 'hold';
}

/** The reply of a handler. A plain string is literal text: nothing in it is markup or a mention. */
export type Body = string | Rich | Content;

/** A message that a person wrote. */
export interface Message {
  readonly ref: MessageRef;
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly files: readonly FileRef[];
  readonly replyTo?: MessageRef;
  /** True if the message is to the bot: in private, by mention, or as a reply to the bot. */
  readonly addressed: boolean;
  readonly sentAt: number;
}

/** The events of `p.on`, by kind. */
export interface Inbound {
  readonly message: Message;
  readonly edited: Message;
  readonly deleted: { readonly ref: MessageRef };
  readonly reaction: { readonly ref: MessageRef; readonly emoji: string; readonly on: boolean };
  readonly member: { readonly who: UserRef; readonly change: 'joined' | 'left' };
  /** An event that only this platform has, unchanged. */
  readonly other: { readonly type: string; readonly raw: unknown };
}

const PERSON = Symbol.for('svc.person');

/** Marks a reference as one to a person, because it looks like one to a conversation. JSON drops the mark; schemas restore it. */
export function personRef<R extends object>(ref: R): R {
  return Object.defineProperty(ref, PERSON, { value: true });
}

/** True for a `User`, and for a reference that a schema or the host marked as one to a person. */
export function isPerson(ref: ConversationRef | UserRef): ref is UserRef {
  return PERSON in ref || 'admin' in ref;
}

/** A mention of a person or of everyone in the conversation. No other function makes a mention. */
export function mention(user: UserRef | 'everyone'): Segment {
  return { kind: 'mention', user: user === 'everyone' ? user : { endpoint: user.endpoint, id: user.id } };
}

/**
 * The body in its long form. A person's message sent again keeps its files, but not its `replyTo`. Properties added to a result of `md`, such as
 * buttons, are kept.
 */
export function toContent(body: Body | Message): Content {
  if (typeof body === 'string') return { text: body };
  if (!('segments' in body)) return body;
  const text = { segments: body.segments };
  return 'ref' in body ? { text, files: body.files } : { ...body, text };
}

/** The text without formatting. */
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
