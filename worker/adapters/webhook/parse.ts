// The body of a signed webhook → what arrived. Pure.
//
//   { "type": "message",                     // or "edited", "deleted", "pressed", "reaction"; default "message"
//     "conversation": { "id": "room-1", "kind": "group", "name": "Room", "thread": "t1" },   // kind: private (default) or group
//     "user": { "id": "ann", "name": "Ann", "admin": false },                              // "self": true for what the bot said
//     "text": "hello",                       // message, edited
//     "message": "m-17",                     // its id in the sender's system; default: webhook-id
//     "replyTo": "m-3", "addressed": true,   // both optional; addressed is true in private conversations
//     "token": "…",                          // pressed: the token of the button
//     "emoji": "👍", "on": true,              // reaction
//     "sentAt": 1767000000000 }              // epoch ms; default: webhook-timestamp
//
// A signed body of another form arrives as `other`, whole. A repeat of a webhook-id is one delivery.
import { type Arrival, parse as checked, type RawRequest, t, type Values } from '../../sdk/index.ts';
import { safeJson } from '../../sdk/safe-json.ts';
import { readTimestamp } from './verify.ts';

const id = () => t.string({ minLength: 1, maxLength: 512 });
const fields = {
  type: t.enum(['message', 'edited', 'deleted', 'pressed', 'reaction'], { default: 'message' }),
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

/** What a verified request holds: always one arrival. */
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
  const { conversation, message = delivery, text, replyTo, token, emoji } = body;
  const user = Object.assign({}, body.user, { name: body.user.name ?? body.user.id });
  const base = { id: delivery, conversation, user, sentAt: body.sentAt ?? sentAt, message };
  switch (body.type) {
    case 'message':
    case 'edited':
      if (text === undefined) return undefined;
      return {
        id: delivery,
        conversation,
        user,
        sentAt: base.sentAt,
        message,
        kind: body.type,
        text,
        addressed: body.addressed ?? conversation.kind === 'private',
        ...(replyTo === undefined ? {} : { replyTo }),
      };
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
  return {
    id: delivery,
    conversation: { id: 'webhook', kind: 'group' },
    user: { id: 'webhook', name: 'webhook', admin: false },
    sentAt,
    kind: 'other',
    type,
    raw,
  };
}
