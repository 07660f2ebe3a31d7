// The chat page and `svc chat` on the wire: what a person says and presses, and the messages of a conversation.
import type { Static } from 'typebox';
import * as Type from 'typebox';

const name = Type.String({ minLength: 1, maxLength: 100 });
/** Made by the client, one for each thing said: the same again is the same message. */
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
    /** The `token` of the button, as it came with the message. */
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
  /** Where to go on from. */
  cursor: Type.Integer(),
  /** There is more behind the cursor. */
  more: Type.Boolean(),
  /** There are messages from before these that are not in the answer. */
  older: Type.Boolean(),
});

export type ChatSay = Static<typeof chatSaySchema>;
export type ChatPress = Static<typeof chatPressSchema>;
export type ChatMessageOnWire = Static<typeof chatMessageSchema>;
export type ChatMessages = Static<typeof chatMessagesSchema>;
