// One post → lines of the connection that stands.
import type { Outgoing, SendResult } from '../../sdk/index.ts';
import { isTarget } from './lines.ts';
import type { IrcSession } from './session.ts';

const NO_CONNECTION_MS = 2_000;

/** By key. The host waits a minute for a result; one whose lines wait longer for the flood limit is asked for again, and begun once. */
const underWay = new WeakMap<IrcSession, Map<string, Promise<SendResult>>>();

/** Throws when the lines may have been taken. `later` says that nothing was written. */
export function send(call: Outgoing, session: IrcSession | undefined): Promise<SendResult> {
  if (call.kind !== 'post') return Promise.resolve({ kind: 'refused', reason: `IRC has no ${call.kind}` });
  if (!isTarget(call.conversation))
    return Promise.resolve({ kind: 'refused', reason: 'this is neither a nick nor a channel' });
  if (session === undefined) return Promise.resolve({ kind: 'later', afterMs: NO_CONNECTION_MS });
  const posts = underWay.get(session) ?? new Map<string, Promise<SendResult>>();
  underWay.set(session, posts);
  const begun = posts.get(call.key);
  if (begun !== undefined) return begun;
  const post = session.post(call.key, call.conversation, call.text).finally(() => posts.delete(call.key));
  posts.set(call.key, post);
  return post;
}
