// Converts lines and presses of the chat page and `svc chat` to arrivals. Pure.
//
//   SANDBOX-ARRIVAL-1  A private conversation is `dm-<person>`. In a room every person sees every message.
//                      There a line addresses the bot if it starts with "svc: …" or "@svc …".
//   SANDBOX-ARRIVAL-2  The client makes the delivery id. The same id from the same person is the same line.
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

/** Id of the conversation. The prefixes keep rooms and persons apart. */
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
