// A post whose attempt before may have reached Slack: looked for by the key that every message of ours carries in its metadata.

import { listAt, objectAt, textAt } from '../../sdk/foreign-json.ts';
import type { Link, Outgoing } from '../../sdk/index.ts';
import { type Answer, call } from './client.ts';
import type { Account } from './config.ts';
import { messageId } from './place.ts';

const TYPE = 'svc_message';

export interface Place {
  readonly channel: string;
  /** The root. */
  readonly thread: string | undefined;
}

/** What a message is known by, and nobody sees. */
export const metadataOf = ({ key }: Pick<Outgoing, 'key'>): object => ({ event_type: TYPE, event_payload: { key } });

/** The name of the message that is there already. Undefined when there is none, or when the app may not look. */
export async function postedBefore(
  key: string,
  place: Place,
  link: Link<Account>,
): Promise<string | Extract<Answer, { kind: 'later' }> | undefined> {
  const channel = await channelOf(place.channel, link);
  if (typeof channel !== 'string') return channel;
  const common = { channel, include_all_metadata: true };
  const answer =
    place.thread === undefined
      ? await call(link, 'conversations.history', { ...common, limit: 15 })
      : await call(link, 'conversations.replies', { ...common, ts: place.thread, limit: 200 });
  if (answer.kind === 'later') return answer;
  if (answer.kind === 'refused') return undefined;
  const found = listAt(answer.json, 'messages').find((message) => {
    const metadata = objectAt(message, 'metadata');
    return metadata['event_type'] === TYPE && objectAt(metadata, 'event_payload')['key'] === key;
  });
  const ts = found && textAt(found, 'ts');
  return ts === undefined ? undefined : messageId(channel, ts);
}

/** Of a person: the channel that the bot has with them. */
async function channelOf(
  id: string,
  link: Link<Account>,
): Promise<string | Extract<Answer, { kind: 'later' }> | undefined> {
  if (!/^[UW]/.test(id)) return id;
  const answer = await call(link, 'conversations.open', { users: id });
  if (answer.kind === 'later') return answer;
  return answer.kind === 'ok' ? textAt(objectAt(answer.json, 'channel'), 'id') : undefined;
}
