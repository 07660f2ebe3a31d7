// The GitHub adapter: issues, pull requests, reviews, discussions and other webhook events. Uses GitHub's client @octokit/core.
//
// In: config.ts (account) → verify.ts (signature) → parse.ts (payload.ts, names.ts) → inbox.
// Out: render.ts (Markdown) → send.ts (REST), discussions.ts (GraphQL) → client.ts (limits, errors).
// GitHub has no idempotency keys, so a post contains a hidden mark (marker.ts). After an attempt without a result, a retry searches for it.
// Webhooks: webhooks.ts registers, deliveries.ts and connect.ts recover failed deliveries.
import { type AdapterModule, defineAdapter } from '../../sdk/index.ts';
import { check } from './check.ts';
import { account, accountFault } from './config.ts';
import { redeliver, WAITS, type Waits, watch } from './connect.ts';
import { MARK_SIZE } from './marker.ts';
import { parse } from './parse.ts';
import { render } from './render.ts';
import { send } from './send.ts';
import { verify } from './verify.ts';
import { register } from './webhooks.ts';

const MOST_CHARACTERS = 65_536;

/** Tests pass shorter waits. */
export function createGithub(waits: Waits = WAITS): AdapterModule {
  return defineAdapter({
    name: 'github',
    account,
    fault: accountFault,
    can: {
      text: { limit: MOST_CHARACTERS - MARK_SIZE, unit: 'utf16', render },
      edit: true,
      remove: true,
      react: true,
      threads: true,
    },
    // GitHub asks for one second between requests that change something.
    rate: { perSecond: 1 },
    webhook: { maxBytes: 25 * 1_048_576, verify, parse, register },
    connect: (link) => watch(link, waits),
    catchUp: (link) => redeliver(link, waits),
    send,
    check,
  });
}

export const github = createGithub();
