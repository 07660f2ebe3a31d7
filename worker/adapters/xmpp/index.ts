// xmpp: an account on any server that speaks RFC 6120, in rooms and with people, through @xmpp/client.
//
// In: config.ts (account) → connect.ts → session.ts (one connection: client.ts, socket.ts) → conversations.ts (rooms.ts, archive.ts, catch-up.ts) → parse.ts
// → arrival-queue.ts → inbox. Out: send.ts (text.ts, upload.ts) → session.ts; sent means that the server has acknowledged it (XEP-0198), in a
// room that the room has echoed it. XMPP drops no repeats: after a lost answer the archive is asked whether the message is there.
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

/** The adapter; tests shorten its waits. */
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
