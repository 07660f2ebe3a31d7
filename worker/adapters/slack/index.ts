// slack: one app in one workspace.
//
// In: over HTTP, config.ts (account) → verify.ts (signature, challenge) → parse.ts (events.ts, interactions.ts) → inbox; in Socket Mode,
// connect.ts → socket.ts → the same parse. Out: send.ts → client.ts (Slack's own client), files.ts. Text is Slack's mrkdwn (text.ts).
// Who administers the workspace is asked of Slack (admins.ts). What was said while the account was away: catch-up.ts, which looks where seen.ts knows that people speak.
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

/** The adapter; tests shorten its waits. */
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
      // Anything else would be shown to the person who typed a command.
      answer: () => ({ status: 200, text: '' }),
    },
    connect: (link) => watchRefusal(link, () => connect(link, timing)),
    catchUp: (link) => watchRefusal(link, () => catchUp(link)),
    // Slack takes the id of a person for the conversation with the bot, and arrivals name it so.
    direct: (user) => user,
    send: (call, link) => watchRefusal(link, () => send(call, link)),
    fetchFile,
    check,
  });
}

export const slack = createSlack();
