// Ids of Discord in the terms of the host. Pure.
//
//   I1  A private conversation has the id of its person, `@<user>`: there a person is told something in private, whoever began.
//   I2  A message is named `<channel>/<message>`, because Discord wants the channel to change it. A thread is a channel of its own.
//   I3  Snowflakes hold their time: milliseconds since 2015, 22 bits up.

import type { Arrival, FileRef } from '../../sdk/index.ts';
import { countAt, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';

const EPOCH_MS = 1_420_070_400_000n;

export const isSnowflake = (id: string): boolean => /^[1-9]\d{14,20}$/.test(id);

/** I3. Epoch milliseconds; undefined for what is no snowflake. */
export const timeOf = (id: string): number | undefined =>
  isSnowflake(id) ? Number((BigInt(id) >> 22n) + EPOCH_MS) : undefined;

/** The least snowflake of this time. */
export const snowflakeAt = (ms: number): string => {
  const since = BigInt(Math.floor(ms)) - EPOCH_MS;
  return String((since > 0n ? since : 0n) << 22n);
};

/** The id of a person in `@<id>`; undefined for a channel. */
export const personOf = (conversation: string): string | undefined => /^@(\d+)$/.exec(conversation)?.[1];
export const privateWith = (user: string): string => `@${user}`;

export const messageId = (channel: string, id: string): string => `${channel}/${id}`;

const BESIDE = '+';
/** Of a post that takes several messages: what is answered, edited or reacted to is the first. */
export const besideEachOther = (messages: readonly string[]): string => messages.join(BESIDE);
export const messagesIn = (message: string): readonly string[] => message.split(BESIDE);

/** I2. Undefined when it does not name a message. */
export function readMessageId(messages: string): { readonly channel: string; readonly id: string } | undefined {
  const [message = ''] = messagesIn(messages);
  const [channel = '', id = '', ...rest] = message.split('/');
  return rest.length === 0 && isSnowflake(channel) && isSnowflake(id) ? { channel, id } : undefined;
}

export interface Where {
  readonly channel: string;
  readonly guild: string | undefined;
  /** Who is at the other end of a private channel. */
  readonly person: string | undefined;
  readonly name?: string | undefined;
}

export function conversationOf({ channel, guild, person, name }: Where): Arrival['conversation'] {
  if (guild === undefined) return { id: person === undefined ? channel : privateWith(person), kind: 'private' };
  return { id: channel, kind: 'group', ...(name === undefined ? {} : { name }) };
}

const ADMINISTRATOR = 1n << 3n;
const MANAGE_GUILD = 1n << 5n;

/** Whether a set of permissions, in decimal digits, is one of a person who administers. */
export const isAdministering = (permissions: string | undefined): boolean =>
  permissions !== undefined &&
  /^\d{1,30}$/.test(permissions) &&
  (BigInt(permissions) & (ADMINISTRATOR | MANAGE_GUILD)) !== 0n;

/** What a person is called there. */
export const nameOf = (user: Json, member: Json = {}): string =>
  textAt(member, 'nick') ?? textAt(user, 'global_name') ?? textAt(user, 'username') ?? textAt(user, 'id') ?? 'unknown';

/** Whoever did it is not told. */
export const NOBODY = { id: 'unknown', name: 'unknown', admin: false } as const;

/** The message itself; of one that was forwarded, what it was when it was: its own words and files are empty. */
export function shownIn(message: Json): Json {
  const [first] = listAt(message, 'message_snapshots');
  return first === undefined ? message : objectAt(first, 'message');
}

/** The files of a message; each is named by where it lies, because its address is valid for a day. */
export function filesOf(message: Json, channel: string): readonly FileRef[] {
  const id = textAt(message, 'id') ?? '';
  return listAt(shownIn(message), 'attachments').flatMap((file) => {
    const attachment = textAt(file, 'id');
    if (attachment === undefined) return [];
    return [
      {
        id: `${messageId(channel, id)}/${attachment}`,
        name: textAt(file, 'filename') ?? attachment,
        mime: (textAt(file, 'content_type') ?? 'application/octet-stream').split(';', 1)[0] ?? '',
        bytes: countAt(file, 'size') ?? 0,
      },
    ];
  });
}
