// The IRC adapter, for any server with RFC 2812. Uses IRCv3 msgid, server-time and SASL if the server has them.
//
// In: config.ts (account) → connect.ts → session.ts (one connection) → parse.ts (a line) → history.ts (what was missed goes first) → arrival-queue.ts
// → inbox.
// Out: formatting.ts (marks as codes) → send.ts → session.ts → posting.ts → lines.ts. A post is sent when the server answers a PING written after its
// last line.
// IRC has no idempotency keys, so a post may appear twice after a lost connection. The option `unsure` of a post decides whether it is retried.
import { type AdapterModule, defineAdapter } from '../../sdk/index.ts';
import { check } from './check.ts';
import { account } from './config.ts';
import { connect, type Sessions } from './connect.ts';
import { type SessionTiming, TIMING } from './connection/timing.ts';
import { renderCodes } from './formatting.ts';
import { TEXT_BYTES } from './lines.ts';
import { send } from './send.ts';

/** Tests pass shorter waits. */
export function createIrc(timing: SessionTiming = TIMING): AdapterModule {
  const sessions: Sessions = new WeakMap();
  return defineAdapter({
    name: 'irc',
    account,
    can: { text: { limit: TEXT_BYTES, unit: 'bytes', render: renderCodes } },
    rate: { perSecond: 20 },
    connect: (link) => connect(link, sessions, timing),
    direct: (nick) => nick,
    send: (call, link) => send(call, sessions.get(link.account)),
    check: (of, tools) => check(of, tools, timing),
  });
}

export const irc = createIrc();
