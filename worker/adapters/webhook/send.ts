// Sends through one signed POST to the account's url. Format of the body:
//
//   { "type": "post" | "edit" | "remove" | "react", "key", "conversation", "thread"?, "message"?, "text"?, "buttons"? [{ "label", "token" }],
//     "mentions"? [{ "text", "user" }], "files"? [{ "name", "mime", "bytes", "url" }], "replyTo"?, "emoji"?, "on"?, "timestamp" }
//
// `webhook-id` is the idempotency key: Standard Webhooks requires receivers to drop duplicates of it.
// The signature has one entry for each secret, so that the receiver can rotate at any time. Text is Markdown.
// A JSON answer `{ "id": … }` names the message for later edits. Without one, the key is its name.
import { Webhook } from 'standardwebhooks';
import { accountFailed, type Link, type Outgoing, type SendResult, sendResult } from '../../sdk/index.ts';
import { withLimit } from '../../sdk/platform/limited-signal.ts';
import { callPlatform } from '../../sdk/platform/platform-call.ts';
import type { Account } from './config.ts';
import { linksTo } from './files.ts';
import { placeMentions } from './text.ts';

const TIME_LIMIT_MS = 15_000;
/** In Standard Webhooks this status ends the subscription. */
const GONE = 410;

/** One POST. Throws if it may have arrived but the answer is unknown. Throws `accountFailed` at 401, 403 and 410. */
export async function send(
  call: Outgoing,
  { account, signal, fileUrl }: Pick<Link<Account>, 'account' | 'signal' | 'fileUrl'>,
): Promise<SendResult> {
  if (account.url === undefined) return { kind: 'refused', reason: 'this account has no url to send to' };
  if (call.kind === 'typing') return { kind: 'refused', reason: 'webhook has no typing' };

  const files = 'files' in call ? linksTo(call.files, { fileUrl }) : [];
  if (typeof files === 'string') return { kind: 'refused', reason: `there is no link to ${files} (http.publicUrl)` };
  const now = new Date();
  const body = JSON.stringify({ ...wireBody(call, now), ...(files.length === 0 ? {} : { files }) });
  const headers = { 'content-type': 'application/json', ...signedHeaders({ key: call.key, now, body }, account) };
  const { url } = account;
  const response = await withLimit(signal, TIME_LIMIT_MS, (limited) =>
    callPlatform(url, { method: 'POST', signal: limited, headers, body }),
  );
  if (response.status === GONE)
    throw accountFailed(
      `${new URL(account.url).host} wants no more messages (410)`,
      'when it does again: svc endpoints reconnect; else take url out and reload, or disable the account',
    );
  const result = await sendResult(response, (json) => messageId(json) ?? call.key);
  return result.kind === 'sent' ? { kind: 'sent', message: result.message ?? call.key } : result;
}

function wireBody(call: Exclude<Outgoing, { kind: 'typing' }>, now: Date): object {
  const { kind, ...rest } = call;
  const base = { type: kind, timestamp: now.toISOString(), ...rest };
  if (!('text' in rest)) return base;
  const { text, mentions } = placeMentions(rest.text);
  return { ...base, text, files: undefined, ...(mentions.length === 0 ? {} : { mentions }) };
}

function signedHeaders(
  { key, now, body }: { readonly key: string; readonly now: Date; readonly body: string },
  { secrets, outgoingSecrets = secrets }: Account,
): Readonly<Record<string, string>> {
  const signatures = outgoingSecrets.map((secret) => new Webhook(secret.reveal()).sign(key, now, body));
  return {
    'webhook-id': key,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

function messageId(json: unknown): string | undefined {
  return typeof json === 'object' && json !== null && 'id' in json && typeof json.id === 'string' && json.id !== ''
    ? json.id
    : undefined;
}
