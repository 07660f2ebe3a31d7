// Converts the body of a signed webhook to an arrival. Pure. Format of the body:
//
//   { "type": "message",                     // or "edited", "deleted", "pressed", "reaction"; default "message"
//     "conversation": { "id": "room-1", "kind": "group", "name": "Room", "thread": "t1" },   // kind: private (default) or group
//     "user": { "id": "ann", "name": "Ann", "admin": false },                              // "self": true for the bot's own messages
//     "text": "hello @Bob",                  // message, edited
//     "mentions": [{ "text": "@Bob", "user": "bob" }],   // "text" is a part of the text; "everyone": true, or "self": true for the bot
//     "files": [{ "url": "https://…", "name": "a.png", "mime": "image/png", "bytes": 123 }],   // name, mime and bytes are optional
//     "message": "m-17",                     // message id in the sender's system; default: webhook-id
//     "replyTo": "m-3", "addressed": true,   // both optional; addressed is true in private conversations
//     "token": "…",                          // pressed: the token of the button
//     "emoji": "👍", "on": true,              // reaction
//     "sentAt": 1767000000000 }              // epoch ms; default: webhook-timestamp
//
// A signed body of another form arrives unchanged as `other`. A repeated webhook-id is the same delivery.
import { type Arrival, parse as checked, type FileRef, type RawRequest, t, type Values } from '../../sdk/index.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import { heard } from './text.ts';
import { readTimestamp } from './verify.ts';

const id = () => t.string({ minLength: 1, maxLength: 512 });
const TYPES = ['message', 'edited', 'deleted', 'pressed', 'reaction'] as const;
const MOST_MENTIONS = 20;
const MOST_FILES = 10;
const mention = {
  text: t.string({ minLength: 1, maxLength: 64 }),
  user: t.optional(id()),
  everyone: t.optional(t.boolean()),
  self: t.optional(t.boolean()),
};
const file = {
  url: t.string({ maxLength: 2_000, pattern: '^https?://' }),
  name: t.optional(t.string({ minLength: 1, maxLength: 200 })),
  mime: t.optional(t.string({ pattern: '^[\\w.+-]{1,100}/[\\w.+-]{1,100}$' })),
  bytes: t.optional(t.integer({ minimum: 0 })),
};
const fields = {
  type: t.enum(TYPES, { default: 'message' }),
  conversation: t.object({
    id: id(),
    kind: t.enum(['private', 'group'], { default: 'private' }),
    name: t.optional(t.string()),
    thread: t.optional(id()),
  }),
  user: t.object({
    id: id(),
    name: t.optional(t.string()),
    admin: t.boolean({ default: false }),
    self: t.optional(t.boolean()),
  }),
  text: t.optional(t.string()),
  mentions: t.optional(t.array(t.object(mention), { maxItems: MOST_MENTIONS })),
  files: t.optional(t.array(t.object(file), { maxItems: MOST_FILES })),
  message: t.optional(id()),
  replyTo: t.optional(id()),
  addressed: t.optional(t.boolean()),
  token: t.optional(id()),
  emoji: t.optional(id()),
  on: t.boolean({ default: true }),
  sentAt: t.optional(t.integer({ minimum: 0 })),
};
const schema = t.object(fields);
const UTF8 = new TextDecoder();
type Body = Values<typeof fields>;

/** A verified request is always one arrival. */
export function parse(request: RawRequest): readonly Arrival[] {
  const delivery = request.headers['webhook-id'] ?? '';
  const sentAt = (readTimestamp(request.headers['webhook-timestamp']) ?? 0) * 1_000;
  const text = UTF8.decode(request.body);
  const raw = safeJson(text);
  return [known(raw, delivery, sentAt) ?? other(raw === undefined ? text : raw, delivery, sentAt)];
}

function known(raw: unknown, delivery: string, sentAt: number): Arrival | undefined {
  const body = read(raw);
  if (body === undefined) return undefined;
  const { conversation, message = delivery, text, replyTo, token, emoji, mentions = [], files = [] } = body;
  const user = Object.assign({}, body.user, { name: body.user.name ?? body.user.id });
  const base = { id: delivery, conversation, user, sentAt: body.sentAt ?? sentAt, message };
  switch (body.type) {
    case 'message':
    case 'edited': {
      if ((text === undefined && files.length === 0) || !mentions.every(isWhole)) return undefined;
      const said = heard(text ?? '', mentions);
      return {
        id: delivery,
        conversation,
        user,
        sentAt: base.sentAt,
        message,
        kind: body.type,
        text: said.text,
        addressed: body.addressed ?? (conversation.kind === 'private' || said.isToBot),
        ...(files.length === 0 ? {} : { files: files.map(fileOf) }),
        ...(replyTo === undefined ? {} : { replyTo }),
      };
    }
    case 'deleted':
      return body.message === undefined ? undefined : { ...base, kind: 'deleted' };
    case 'pressed':
      return body.message === undefined || token === undefined ? undefined : { ...base, kind: 'pressed', token };
    case 'reaction':
      return body.message === undefined || emoji === undefined
        ? undefined
        : { ...base, kind: 'reaction', emoji, on: body.on };
  }
}

/** A mention names exactly one of person, everyone and bot. */
const isWhole = ({ user, everyone = false, self = false }: Values<typeof mention>): boolean =>
  [user !== undefined, everyone, self].filter(Boolean).length === 1;

/** The URL is the file's id, and the bytes are fetched by it. */
function fileOf({ url, name, mime = 'application/octet-stream', bytes = 0 }: Values<typeof file>): FileRef {
  const last = URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : '';
  return { id: url, name: (name ?? last).replace(/[\p{Cc}/\\]/gu, '') || 'file', mime, bytes };
}

function read(raw: unknown): Body | undefined {
  try {
    return checked(schema, raw);
  } catch {
    return undefined;
  }
}

function other(raw: unknown, delivery: string, sentAt: number): Arrival {
  const type =
    typeof raw === 'object' && raw !== null && 'type' in raw && typeof raw.type === 'string' ? raw.type : 'unknown';
  const fault = faultOf(raw);
  return {
    id: delivery,
    conversation: { id: 'webhook', kind: 'group' },
    user: { id: 'webhook', name: 'webhook', admin: false },
    sentAt,
    kind: 'other',
    type,
    raw,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Undefined if the body names a type that is not ours: its sender means no message. Names keys, never a value. */
function faultOf(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return 'the body is no JSON object';
  const body = raw as Readonly<Record<string, unknown>>;
  const { type = 'message' } = body;
  if (!TYPES.some((known) => known === type)) return undefined;
  const missing = ['conversation', 'user'].filter((key) => body[key] === undefined);
  if (missing.length > 0) return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  return `a field does not fit a body of type ${String(type)}`;
}
