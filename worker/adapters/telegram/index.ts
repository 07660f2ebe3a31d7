// telegram: adapter for bots of the Bot API, through long polling or a webhook, with grammY's client.
//
// Incoming: config.ts (account) → connect.ts (polling, or checks of the webhook) or verify.ts (secret token) → parse.ts → inbox.
// Outgoing: send.ts (calls, files, render.ts) through client.ts. Telegram has no idempotency key for sends.
// A retry after a lost answer may therefore duplicate a post. The post's option `unsure` decides whether to retry.
import { defineAdapter } from '../../sdk/index.ts';
import { apart } from './albums.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { announce, connect, register } from './connect.ts';
import { fetchFile, MOST_SENT_BYTES } from './files.ts';
import { answer, parse } from './parse.ts';
import { renderHtml } from './render.ts';
import { send } from './send.ts';
import { verify } from './verify.ts';

export const telegram = defineAdapter({
  name: 'telegram',
  account,
  fault: accountFault,
  can: {
    text: { limit: 4_096, unit: 'utf16', render: renderHtml },
    buttons: 50,
    edit: true,
    remove: true,
    react: true,
    replies: true,
    threads: true,
    typing: true,
    files: { maxBytes: MOST_SENT_BYTES, apart },
  },
  // Telegram's separate limit of 20 messages a minute for a group is counted in send.ts.
  rate: { perSecond: 30, perConversation: { count: 1, perMs: 1_000 } },
  webhook: { verify, parse, answer, takes: ({ mode }) => mode === 'webhook', register },
  connect: (link) => connect(link),
  check,
  send,
  announce,
  fetchFile,
  // A private chat has its person's id. An author that is a chat has no private chat, so such a send must be refused.
  direct: (user) => (/^\d+$/.test(user) ? user : `nobody behind ${user}`),
});
