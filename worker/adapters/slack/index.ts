// slack: adapter for one Slack app in one workspace.
//
// Incoming over HTTP: config.ts (account) → verify.ts (signature, challenge) → parse.ts (events.ts, interactions.ts) → inbox.
// Incoming in Socket Mode: connect.ts → socket.ts → the same parser. Outgoing: send.ts → client.ts (Slack's own client), files.ts.
// Text is Slack's mrkdwn (text.ts). admins.ts asks Slack for the workspace's administrators.
// catch-up.ts reads missed messages from the history, first in the conversations that seen.ts lists.
import { type AdapterModule, defineAdapter } from '../../sdk/index.ts';
import { watchRefusal } from './arrivals/siblings.ts';
import { type SocketTiming, TIMING } from './arrivals/socket.ts';
import { catchUp } from './catch-up.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { connect } from './connect.ts';
import { fetchFile } from './files.ts';
import { parse } from './parse.ts';
import { send } from './send.ts';
import { toMrkdwn } from './text.ts';
import { verify } from './verify.ts';

/** Creates the adapter. Tests pass shorter timeouts. */
export function createSlack(timing: SocketTiming = TIMING): AdapterModule {
  return defineAdapter({
    name: 'slack',
    account,
    fault: accountFault,
    can: {
      text: { limit: 4_000, unit: 'utf16', render: toMrkdwn },
      buttons: 25,
      edit: true,
      remove: true,
      react: true,
      threads: true,
      replies: true,
      only: true,
      files: { maxBytes: 1_073_741_824 },
    },
    rate: { perSecond: 5, perConversation: { count: 1, perMs: 1_000 } },
    webhook: {
      verify,
      parse,
      takes: ({ mode }) => mode === 'http',
      // Slack shows any other answer to the person who typed a command.
      answer: () => ({ status: 200, text: '' }),
    },
    connect: (link) => watchRefusal(link, () => connect(link, timing)),
    catchUp: (link) => watchRefusal(link, () => catchUp(link)),
    // Slack accepts a person's id as the direct conversation with the bot, and arrivals use the same id.
    direct: (user) => user,
    send: (call, link) => watchRefusal(link, () => send(call, link)),
    fetchFile,
    check,
  });
}

export const slack = createSlack();
