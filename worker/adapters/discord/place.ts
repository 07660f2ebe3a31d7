// Translates Discord's ids into the host's. Pure.
//
//   DISCORD-PLACE-1  A private conversation has the id of its person, `@<user>`. The bot can write there first.
//   DISCORD-PLACE-2  A message id is `<channel>/<message>`, because Discord needs the channel to change the message. A thread is a channel of its
//                    own.
//   DISCORD-PLACE-3  A snowflake contains its time: milliseconds since 2015, shifted left by 22 bits.

import type { Arrival, FileRef } from '../../sdk/index.ts';
import { countAt, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';

const EPOCH_MS = 1_420_070_400_000n;

export const isSnowflake = (id: string): boolean => /^[1-9]\d{14,20}$/.test(id);

/** The time in a snowflake, in epoch ms. Undefined if the id is no snowflake. */
export const timeOf = (id: string): number | undefined =>
  isSnowflake(id) ? Number((BigInt(id) >> 22n) + EPOCH_MS) : undefined;

/** The lowest snowflake of this time. */
export const snowflakeAt = (ms: number): string => {
  const since = BigInt(Math.floor(ms)) - EPOCH_MS;
  return String((since > 0n ? since : 0n) << 22n);
};

/** The id of a person in `@<id>`; undefined for a channel. */
export const personOf = (conversation: string): string | undefined => /^@(\d+)$/.exec(conversation)?.[1];
export const privateWith = (user: string): string => `@${user}`;

export const messageId = (channel: string, id: string): string => `${channel}/${id}`;

const BESIDE = '+';
/** One id for a post of several messages. Replies, edits and reactions use the first message. */
export const besideEachOther = (messages: readonly string[]): string => messages.join(BESIDE);
export const messagesIn = (message: string): readonly string[] => message.split(BESIDE);

/** Splits `<channel>/<message>`. Undefined if the id has another form. */
export function readMessageId(messages: string): { readonly channel: string; readonly id: string } | undefined {
  const [message = ''] = messagesIn(messages);
  const [channel = '', id = '', ...rest] = message.split('/');
  return rest.length === 0 && isSnowflake(channel) && isSnowflake(id) ? { channel, id } : undefined;
}

export interface Where {
  readonly channel: string;
  readonly guild: string | undefined;
  /** The other person of a private channel. */
  readonly person: string | undefined;
  readonly name?: string | undefined;
}

export function conversationOf({ channel, guild, person, name }: Where): Arrival['conversation'] {
  if (guild === undefined) return { id: person === undefined ? channel : privateWith(person), kind: 'private' };
  return { id: channel, kind: 'group', ...(name === undefined ? {} : { name }) };
}

const ADMINISTRATOR = 1n << 3n;
const MANAGE_GUILD = 1n << 5n;

/** Whether a permission set, in decimal digits, includes administration. */
export const isAdministering = (permissions: string | undefined): boolean =>
  permissions !== undefined &&
  /^\d{1,30}$/.test(permissions) &&
  (BigInt(permissions) & (ADMINISTRATOR | MANAGE_GUILD)) !== 0n;

/** Display name of a person in a server. */
export const nameOf = (user: Json, member: Json = {}): string =>
  textAt(member, 'nick') ?? textAt(user, 'global_name') ?? textAt(user, 'username') ?? textAt(user, 'id') ?? 'unknown';

/** Used if Discord does not tell who acted. */
export const NOBODY = { id: 'unknown', name: 'unknown', admin: false } as const;

/** The message itself, or the original that a forwarded message contains. A forwarded message has no text or files of its own. */
export function shownIn(message: Json): Json {
  const [first] = listAt(message, 'message_snapshots');
  return first === undefined ? message : objectAt(first, 'message');
}

/** Files of a message. A file is named by its message, because an attachment's URL is valid for a day. */
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
