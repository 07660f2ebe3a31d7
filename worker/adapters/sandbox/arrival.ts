// What people write on the chat page and in `svc chat` → what arrives. Pure.
//
//   A person alone talks to the bot in `dm-<person>`; in a room everybody sees everything, and the bot is spoken to by "svc: …" or "@svc …".
//   The delivery is the client's: a repeat of it by the same person is the same line.
import type { Arrival } from '../../sdk/index.ts';

export interface Place {
  readonly person: string;
  readonly room: string | undefined;
}
export interface Said extends Place {
  readonly text: string;
  readonly delivery: string;
  readonly sentAt: number;
}
export interface Pressed extends Place {
  readonly message: string;
  readonly token: string;
  readonly delivery: string;
  readonly sentAt: number;
}

const SPOKEN_TO = /^\s*(?:@svc\b[,:]?|svc[,:])\s*/i;

/** The conversation's id: rooms and persons never share one. */
export function conversationId({ person, room }: Place): string {
  return room === undefined ? `dm-${person}` : `room-${room}`;
}

export function sandboxArrival(said: Said): Arrival {
  const text = said.text.replace(SPOKEN_TO, '');
  const addressed = said.room === undefined || text !== said.text;
  const { id, conversation, user, sentAt } = base(said);
  return { id, conversation, user, sentAt, kind: 'message', message: inboundMessageId(said), text, addressed };
}

export function sandboxPress(pressed: Pressed): Arrival {
  return { ...base(pressed), kind: 'pressed', message: pressed.message, token: pressed.token };
}

function base(
  from: Place & { readonly delivery: string; readonly sentAt: number },
): Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'> {
  const { person, room, delivery, sentAt } = from;
  return {
    id: `${person}:${delivery}`,
    conversation: {
      id: conversationId(from),
      kind: room === undefined ? 'private' : 'group',
      ...(room === undefined ? {} : { name: room }),
    },
    user: { id: person, name: person, admin: true },
    sentAt,
  };
}

const inboundMessageId = ({ person, delivery }: Said): string => `in-${person}:${delivery}`;
