// webhook: adapter for any system that posts and accepts signed JSON.
// Incoming: Standard Webhooks at /webhooks/<slot>/<id>, verified over the raw bytes (verify.ts), parsed as the generic message (parse.ts).
// Outgoing: one signed POST with an idempotency key (send.ts). Mentions stand beside the text (text.ts), files are links (files.ts).
import { accountFailed, defineAdapter } from '../../sdk/index.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { fetchFile } from './files.ts';
import { parse } from './parse.ts';
import { send } from './send.ts';
import { renderMarkdown } from './text.ts';
import { verify } from './verify.ts';

export const webhook = defineAdapter({
  name: 'webhook',
  account,
  fault: accountFault,
  can: {
    text: { limit: 16_000, unit: 'codepoints', render: renderMarkdown },
    buttons: 25,
    edit: true,
    remove: true,
    react: true,
    threads: true,
    replies: true,
    only: true,
    // Files are signed links, so only the host's own limit applies to their size.
    files: { maxBytes: Number.MAX_SAFE_INTEGER, byLink: true },
    idempotent: true,
  },
  rate: { perSecond: 20 },
  webhook: { verify, parse },
  // There are no messages to pull. This call reports an account that can never work, with its remedy.
  catchUp(link) {
    const fault = accountFault(link.account);
    return fault === undefined ? Promise.resolve() : Promise.reject(accountFailed(fault.reason, fault.remedy));
  },
  send,
  fetchFile,
  check,
});
