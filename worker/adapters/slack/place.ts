// Where something happened and who did it, in the terms of the host. Pure.
import type { Arrival } from '../../sdk/index.ts';

export interface Context {
  /** Id of the workspace that the delivery is for. */
  readonly workspace: string;
  /** When it came, for what does not say when it was sent. */
  readonly now: number;
  /** What other apps say is taken, too. */
  readonly bots: boolean;
}

export interface Happened {
  readonly id: string;
  readonly channel: string | undefined;
  readonly channelType?: string | undefined;
  readonly channelName?: string | undefined;
  /** Undefined: Slack itself. */
  readonly user: string | undefined;
  readonly userName?: string | undefined;
  readonly isSelf?: boolean;
  /** The root of the thread. */
  readonly thread?: string | undefined;
  /** A time of Slack, `1355517523.000005`. */
  readonly ts?: string | undefined;
}

type Base = Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'>;

const SLACK = 'USLACKBOT';

export function baseOf(happened: Happened, { now, workspace }: Context): Base {
  const { id, channel, channelName, user = SLACK, userName = user, isSelf, thread, ts } = happened;
  const isPrivate = isDirect(channel, happened.channelType);
  const person = isPrivate ? happened.user : undefined;
  const seconds = Number(ts);
  return {
    id,
    conversation: {
      id: person ?? channel ?? workspace,
      kind: isPrivate ? 'private' : 'group',
      ...(channelName === undefined || isPrivate ? {} : { name: channelName }),
      ...(thread === undefined ? {} : { thread }),
    },
    // Who is an administrator is marked behind this (admins.ts).
    user: { id: user, name: userName, admin: false, ...(isSelf === true ? { self: true } : {}) },
    sentAt: Number.isFinite(seconds) && seconds > 0 ? Math.floor(seconds * 1_000) : now,
  };
}

/** A direct message: its channels begin with D, and other people's are none of ours. */
const isDirect = (channel: string | undefined, type: string | undefined): boolean =>
  channel === undefined || type === 'im' || channel.startsWith('D');

/** The name of a message in its conversation (P3 of parse.ts). */
export const messageId = (channel: string, ts: string): string => (channel.startsWith('D') ? `${channel}/${ts}` : ts);

/** Channel and time of a message that was named so; the channel is the conversation's where the name has none. */
export function readMessageId(
  message: string,
  conversation: string,
): { readonly channel: string; readonly ts: string } {
  const slash = message.indexOf('/');
  return slash === -1
    ? { channel: conversation, ts: message }
    : { channel: message.slice(0, slash), ts: message.slice(slash + 1) };
}
