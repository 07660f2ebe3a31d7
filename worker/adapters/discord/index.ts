// The Discord adapter: a bot over the gateway, over HTTP interactions, or both. Uses Discord's clients @discordjs/rest and @discordjs/ws.
//
// In: config.ts (account) → connect.ts → shards.ts → shard.ts (one connection) → gateway.ts (order, position.ts) or verify.ts → webhook.ts;
// both → parse.ts and interactions.ts → inbox. After a gap: catch-up.ts.
// Out: send.ts (again.ts, rows.ts, files.ts, text.ts) over client.ts; commands.ts for the menu.
import { defineAdapter } from '../../sdk/index.ts';
import { check } from './check.ts';
import { account, accountFault, takesInteractions } from './config.ts';
import { connect } from './connect.ts';
import { fetchFile, MOST_FILE_BYTES } from './files.ts';
import { TIMING } from './gateway/gateway.ts';
import { catchUp } from './gateway/shards.ts';
import { register } from './interactions/address.ts';
import { announce } from './interactions/commands.ts';
import { answer, parse } from './interactions/webhook.ts';
import { privateWith } from './place.ts';
import { NONCE_MS, send } from './send.ts';
import { toMarkdown } from './text.ts';
import { verify } from './verify.ts';

export const discord = defineAdapter({
  name: 'discord',
  account,
  fault: accountFault,
  can: {
    text: { limit: 2_000, unit: 'utf16', render: toMarkdown },
    buttons: 25,
    edit: true,
    remove: true,
    react: true,
    replies: true,
    threads: true,
    typing: true,
    files: { maxBytes: MOST_FILE_BYTES },
    idempotent: { forMs: NONCE_MS },
  },
  // A general limit only. Discord announces the limits of channels, and its client keeps them.
  rate: { perSecond: 45 },
  webhook: { verify, parse, answer, takes: takesInteractions, register },
  connect: (link) => connect(link, TIMING),
  catchUp,
  send,
  announce,
  fetchFile,
  check,
  direct: privateWith,
});
