// The OneBot 11 adapter: a QQ bot at an implementation of OneBot 11.
//
// In: config.ts (account) → connect.ts: forward and reverse WebSocket (channel.ts, session.ts, calls.ts, event-store.ts), or HTTP with verify.ts
// → parse.ts (message.ts, cq-code.ts) → inbox. After a gap: history.ts. Out: send.ts and files.ts, over caller.ts; text.ts renders.
import { type AdapterModule, defineAdapter } from '../../sdk/index.ts';
import { MAX_MESSAGE_BYTES } from './calls/channel.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { connect } from './connect.ts';
import { fetchFile, MOST_SENT_BYTES } from './files.ts';
import { catchUp } from './history.ts';
import { toCq } from './message/text.ts';
import { parse } from './parse.ts';
import { placeName } from './place.ts';
import { apart, send } from './send.ts';
import { TIMING, type Timing } from './timing.ts';
import { verify, verifySocket } from './verify.ts';

/** Tests pass shorter waits. */
export function createOnebot11(timing: Timing = TIMING): AdapterModule {
  return defineAdapter({
    name: 'onebot11',
    account,
    fault: accountFault,
    can: {
      // OneBot sets no limit, but QQ refuses much longer texts.
      text: { limit: 4_500, unit: 'bytes', render: toCq },
      remove: true,
      react: true,
      replies: true,
      files: { maxBytes: MOST_SENT_BYTES, apart },
    },
    // The account's configured limit `perSecond` is applied before each call, not here.
    rate: { perSecond: 100, perConversation: { count: 1, perMs: 300 } },
    webhook: {
      maxBytes: MAX_MESSAGE_BYTES, // as large as over a WebSocket: few implementations repeat a refused event
      verify,
      parse,
      takes: ({ mode }) => mode !== 'forward',
      socket: { verify: verifySocket, takes: ({ mode }) => mode === 'reverse', maxBytes: MAX_MESSAGE_BYTES },
      // OneBot would execute a response body as an action of the bot.
      answer: () => ({ status: 204 }),
    },
    connect: (link) => connect(link, timing),
    catchUp,
    direct: (user) => placeName({ kind: 'private', user }),
    send,
    fetchFile,
    check,
  });
}

export const onebot11 = createOnebot11();
