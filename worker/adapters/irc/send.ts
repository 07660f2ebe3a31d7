// Sends a post as lines over the open connection.
import type { Outgoing, SendResult } from '../../sdk/index.ts';
import type { IrcSession } from './connection/session.ts';
import { isTarget } from './lines.ts';
import { PostsByKey } from './posts-by-key.ts';

const NO_CONNECTION_MS = 2_000;

const posts = new WeakMap<IrcSession, PostsByKey>();

/** Throws if the lines may have been taken. `later` means that nothing was written. */
export function send(call: Outgoing, session: IrcSession | undefined): Promise<SendResult> {
  if (call.kind !== 'post') return Promise.resolve({ kind: 'refused', reason: `IRC has no ${call.kind}` });
  if (!isTarget(call.conversation))
    return Promise.resolve({ kind: 'refused', reason: 'this is neither a nick nor a channel' });
  if (session === undefined) return Promise.resolve({ kind: 'later', afterMs: NO_CONNECTION_MS });
  const ofSession = posts.get(session) ?? new PostsByKey();
  posts.set(session, ofSession);
  return ofSession.once(call.key, () => session.post(call.key, call.conversation, call.text));
}
