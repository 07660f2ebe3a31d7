// The secret token of a webhook: `X-Telegram-Bot-Api-Secret-Token`. Pure. Telegram signs no bytes and gives no time: the address must be
// https, and a repeat is known by its update_id.
//
//   V1  Compared with every secret in constant time, over digests, so that neither length nor place of a difference shows.
//   V2  Until the bot's name is known (`/help@name`, `@name`) a delivery is put off with 503: Telegram sends it again.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../../sdk/index.ts';
import { type Account, usernameOf } from './config.ts';

/** `ok`, or `refused` with a reason for the log: the client is told nothing of it. */
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
