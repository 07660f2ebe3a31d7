// Wire format of the chat page and `svc chat`: a person's texts and button presses, and the messages of a conversation.
import type { Static } from 'typebox';
import * as Type from 'typebox';

const name = Type.String({ minLength: 1, maxLength: 100 });
/** Idempotency key, made by the client for each text or press. A repeated key is the same message. */
const delivery = Type.String({ minLength: 1, maxLength: 200 });

export const chatSaySchema = Type.Object(
  { person: name, room: Type.Optional(name), text: Type.String({ minLength: 1, maxLength: 20_000 }), delivery },
  { additionalProperties: false },
);

export const chatPressSchema = Type.Object(
  {
    person: name,
    room: Type.Optional(name),
    message: Type.String({ minLength: 1, maxLength: 200 }),
    /** The button's `token`, as it came with the message. */
    token: Type.String({ minLength: 1, maxLength: 2_000 }),
    delivery,
  },
  { additionalProperties: false },
);

export const chatTakenSchema = Type.Object({ id: Type.String(), duplicate: Type.Boolean() });

export const chatMessageSchema = Type.Object({
  n: Type.Integer(),
  id: Type.String(),
  from: Type.String(),
  text: Type.String(),
  at: Type.String(),
  buttons: Type.Array(
    Type.Object({
      label: Type.String(),
      token: Type.String(),
      style: Type.Optional(Type.Union([Type.Literal('primary'), Type.Literal('danger')])),
    }),
  ),
  removed: Type.Boolean(),
  reactions: Type.Array(Type.String()),
});

export const chatMessagesSchema = Type.Object({
  messages: Type.Array(chatMessageSchema),
  /** Cursor for the next request. */
  cursor: Type.Integer(),
  /** More messages follow the cursor. */
  more: Type.Boolean(),
  /** Older messages exist that the answer does not contain. */
  older: Type.Boolean(),
});

export type ChatSay = Static<typeof chatSaySchema>;
export type ChatPress = Static<typeof chatPressSchema>;
export type ChatMessageOnWire = Static<typeof chatMessageSchema>;
export type ChatMessages = Static<typeof chatMessagesSchema>;
