// webhook: any system that can post and take signed JSON. In: Standard Webhooks at /webhooks/<slot>/<id>, verified over the raw bytes
// (verify.ts), read as our generic message or kept whole (parse.ts). Out: one signed POST, repeatable by its id (send.ts). Mentions stand
// beside the text (text.ts), files are addresses (files.ts).
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
    // As signed links (files.ts): of the size the host has its own limit.
    files: { maxBytes: Number.MAX_SAFE_INTEGER, byLink: true },
    idempotent: true,
  },
  rate: { perSecond: 20 },
  webhook: { verify, parse },
  // Nothing to pull: the moment at which an account that can never work is told so, with its remedy.
  catchUp(link) {
    const fault = accountFault(link.account);
    return fault === undefined ? Promise.resolve() : Promise.reject(accountFailed(fault.reason, fault.remedy));
  },
  send,
  fetchFile,
  check,
});
