// telegram: bots of the Bot API, over long polling or a webhook, through grammY's client.
//
// In: config.ts (account) → connect.ts (polling, or the life of a webhook) or verify.ts (secret token) → parse.ts (an update, entities.ts)
// → inbox. Out: send.ts (calls, files, render.ts) over client.ts. Telegram knows no key by which it could drop a repeat: after a lost answer
// a post may be said twice, and `unsure` of its body decides.
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
  // For groups, which take 20 a minute, send.ts counts.
  rate: { perSecond: 30, perConversation: { count: 1, perMs: 1_000 } },
  webhook: { verify, parse, answer, takes: ({ mode }) => mode === 'webhook', register },
  connect: (link) => connect(link),
  check,
  send,
  announce,
  fetchFile,
  // A private chat has the id of its person. Who speaks as a chat has none: what is sent there is refused, not shown to all.
  direct: (user) => (/^\d+$/.test(user) ? user : `nobody behind ${user}`),
});
