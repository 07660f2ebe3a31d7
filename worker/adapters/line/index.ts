// The LINE adapter: one channel of the Messaging API, through LINE's own client.
//
// In: config.ts (account) → verify.ts (signature) → parse.ts (events; text.ts) → inbox. connect.ts registers the address and checks it.
// Out: text.ts (render) → messages.ts (message objects) → send.ts (push with a retry key) → client.ts (LINE's client, errors, limits).
// remembered.ts keeps quote tokens and names, which LINE sends once. files.ts downloads files from the data API.
// Outgoing files are links, and LINE fetches and shows small pictures.
import { defineAdapter } from '../../sdk/index.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { connect, register } from './connect.ts';
import { fetchFile } from './files.ts';
import { IMAGE_TYPES, MOST_BUTTONS, MOST_IMAGE_BYTES } from './messages.ts';
import { parse } from './parse.ts';
import { send } from './send.ts';
import { isPerson, render } from './text.ts';
import { verify } from './verify.ts';

/** LINE remembers a retry key for 24 hours. */
const RETRY_KEY_MS = 86_400_000;

export const line = defineAdapter({
  name: 'line',
  account,
  fault: accountFault,
  can: {
    text: { limit: 5_000, unit: 'utf16', render },
    buttons: MOST_BUTTONS,
    replies: true,
    typing: true,
    files: { maxBytes: MOST_IMAGE_BYTES, types: IMAGE_TYPES, byLink: true },
    idempotent: { forMs: RETRY_KEY_MS },
  },
  // LINE allows 2,000 requests a second for a channel.
  rate: { perSecond: 100 },
  webhook: { verify, parse, register },
  connect: (link) => connect(link),
  send,
  fetchFile,
  check,
  // LINE accepts direct messages only to people who have added the bot.
  direct: (user) => (isPerson(user) ? user : `nobody behind ${user}`),
});
