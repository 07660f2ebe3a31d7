// Common fields of an arrival: conversation, person and time. Pure.
import type { Arrival } from '../../sdk/index.ts';

export interface Context {
  /** Id of the workspace that receives the delivery. */
  readonly workspace: string;
  /** Time of receipt, for payloads without a time of their own. Epoch ms. */
  readonly now: number;
  /** Whether messages of other apps are accepted. */
  readonly bots: boolean;
}

export interface Happened {
  readonly id: string;
  readonly channel: string | undefined;
  readonly channelType?: string | undefined;
  readonly channelName?: string | undefined;
  /** Undefined for Slack itself. */
  readonly user: string | undefined;
  readonly userName?: string | undefined;
  readonly isSelf?: boolean;
  /** Timestamp of the thread's first message. */
  readonly thread?: string | undefined;
  /** Slack's timestamp, `1355517523.000005`. */
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
    // Administrators are marked after parsing.
    user: { id: user, name: userName, admin: false, ...(isSelf === true ? { self: true } : {}) },
    sentAt: Number.isFinite(seconds) && seconds > 0 ? Math.floor(seconds * 1_000) : now,
  };
}

/** Ids of direct-message channels begin with D. A bot sees only its own. */
const isDirect = (channel: string | undefined, type: string | undefined): boolean =>
  channel === undefined || type === 'im' || channel.startsWith('D');

/** Name of a message in its conversation. In a direct message it includes the channel, which Slack needs for changes. */
export const messageId = (channel: string, ts: string): string => (channel.startsWith('D') ? `${channel}/${ts}` : ts);

/** Channel and time of a named message. A name without a channel belongs to the conversation's channel. */
export function readMessageId(
  message: string,
  conversation: string,
): { readonly channel: string; readonly ts: string } {
  const slash = message.indexOf('/');
  return slash === -1
    ? { channel: conversation, ts: message }
    : { channel: message.slice(0, slash), ts: message.slice(slash + 1) };
}
