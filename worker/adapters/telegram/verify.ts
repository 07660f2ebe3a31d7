// Verifies the secret token of a webhook, `X-Telegram-Bot-Api-Secret-Token`. Pure. Telegram signs no bytes and sends no time.
// The address must therefore be https, and duplicates are recognized by their update_id.
//
//   TELEGRAM-VERIFY-1  Every secret is compared in constant time and as a digest, so that timing reveals neither length nor content.
//   TELEGRAM-VERIFY-2  Until the bot's name is known (for `/help@name` and `@name`) a delivery is answered with 503. Telegram repeats it.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../../sdk/index.ts';
import { type Account, usernameOf } from './config.ts';

/** `ok`, 503, or `refused` with a reason. The reason is logged and not sent to the client. */
export function verify(request: RawRequest, account: Account): Verdict {
  if (account.mode !== 'webhook') return refused('this account polls');
  const given = request.headers['x-telegram-bot-api-secret-token'];
  if (given === undefined) return refused('no secret token');

  let matches = 0;
  for (const secret of account.secrets)
    matches += Number(timingSafeEqual(digest(given), digest(secret.reveal()))) * Number(secret.reveal() !== '');
  if (matches === 0) return refused('wrong secret token');
  if (usernameOf(account) === undefined)
    return { kind: 'handshake', answer: { status: 503, headers: { 'retry-after': '1' } } };
  return { kind: 'ok' };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const refused = (reason: string): Verdict => ({ kind: 'refused', reason });
