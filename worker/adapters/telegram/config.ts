// Configuration of one Telegram account and the rules for its values.
//
//   plugins:
//     telegram:
//       endpoints:
//         - { id: main, token: '${TELEGRAM_TOKEN}' }                                              # long polling
//         - { id: shop, token: '${SHOP_TOKEN}', mode: webhook, secrets: ['${SHOP_SECRET}'] }      # then: svc webhooks register telegram~shop
import { t, type Values } from '../../sdk/index.ts';

export const account = {
  token: t.secret({ description: 'Of the bot, as @BotFather gave it: 123456:ABC…' }),
  mode: t.enum(['polling', 'webhook'], {
    default: 'polling',
    description: 'polling needs no public address; webhook needs http.publicUrl, secrets, and svc webhooks register',
  }),
  secrets: t.array(t.secret(), {
    default: [],
    maxItems: 8,
    description: 'For webhooks: each is 1 to 256 of A-Z a-z 0-9 _ -. The first is registered, every one is taken',
  }),
  username: t.optional(
    t.string({
      pattern: '^[A-Za-z0-9_]{3,32}$',
      description: 'Of the bot, without @. Left out: asked of Telegram, and webhooks are put off until it is known',
    }),
  ),
  apiUrl: t.string({
    default: 'https://api.telegram.org',
    maxLength: 300,
    pattern: '^https?://[^\\s?#@]*[^\\s?#@/]$',
    description: 'Of a Bot API server of your own, without a slash at the end',
  }),
};
export type Account = Values<typeof account>;

/** Kinds of updates requested from Telegram. */
export const UPDATES = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'message_reaction',
  'my_chat_member',
] as const;

const SECRET = /^[A-Za-z0-9_-]{1,256}$/;

/** The bot's user id: the part of the token before the colon. */
export const botIdOf = ({ token }: Pick<Account, 'token'>): string => token.reveal().split(':', 1)[0] ?? '';

/** Reason why this account cannot work at all, with its remedy. Never quotes a secret. */
export function accountFault(of: Account): { readonly reason: string; readonly remedy: string } | undefined {
  if (!/^\d{1,20}:[A-Za-z0-9_-]{1,200}$/.test(of.token.reveal()))
    return {
      reason: 'token is not one of a bot: digits, a colon, letters',
      remedy: 'copy it from @BotFather (/token) into .env and reload',
    };
  if (of.mode !== 'webhook') return undefined;
  if (of.secrets.length === 0)
    return {
      reason: 'a webhook needs secrets',
      remedy: 'make one (openssl rand -hex 32), put it into .env, name it under secrets, and reload',
    };
  if (of.secrets.some((secret) => !SECRET.test(secret.reveal())))
    return {
      reason: 'a secret is not 1 to 256 of A-Z a-z 0-9 _ -',
      remedy: 'make one: openssl rand -hex 32; put it into .env and reload',
    };
  return undefined;
}

const names = new WeakMap<Account, string>();

/** Kept as long as the account's settings exist. */
export const learnUsername = (of: Account, username: string): void => void names.set(of, username);

/** Without the @. Undefined until Telegram has answered getMe. */
export const usernameOf = (of: Account): string | undefined => of.username ?? names.get(of);
