// xmpp: adapter for an account on any server of RFC 6120, in rooms and private chats, with @xmpp/client.
//
// Incoming: config.ts (account) → connect.ts → session.ts (one connection: client.ts, socket.ts) → conversations.ts (rooms, archives)
// → parse.ts → arrival-queue.ts → inbox. Outgoing: send.ts (text.ts, upload.ts) → session.ts.
// A message is sent once the server has acknowledged it (XEP-0198). In a room it is sent once the room has echoed it.
// XMPP does not drop duplicates. After a lost answer the archive is searched for the message.
import { type AdapterModule, defineAdapter } from '../../sdk/index.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { connect } from './connect.ts';
import { type SessionTiming, TIMING } from './connection/session.ts';
import { fetchFile } from './files/fetch-file.ts';
import { apart, send } from './send.ts';
import { normalJid } from './stanza.ts';
import { stateOf } from './state.ts';
import { renderStyled } from './text.ts';

/** Creates the adapter. Tests pass shorter timeouts. */
export function createXmpp(timing: SessionTiming = TIMING): AdapterModule {
  return defineAdapter({
    name: 'xmpp',
    account,
    fault: accountFault,
    can: {
      text: { limit: 10_000, unit: 'codepoints', render: renderStyled },
      edit: true,
      remove: true,
      react: true,
      replies: true,
      typing: true,
      files: { maxBytes: 100_000_000, apart },
    },
    rate: { perSecond: 10 },
    connect: (link) => connect(link, timing),
    catchUp: async (link) => stateOf(link.account).conversations?.catchUp(),
    direct: normalJid,
    send: (call, link) => send(call, link, stateOf(link.account)),
    fetchFile,
    check,
  });
}

export const xmpp = createXmpp();
