// Deliveries as six platforms sign and send them, each account's in turn, and the accounts that take them. As many ask for an answer as the
// accounts may send: platforms limit that to far less than they deliver.
import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { Post } from './load/open-loop.ts';
import type { Addresses } from './load/platform-fakes.ts';

export const ACCOUNTS = 4;
/** Of each account. */
export const CONVERSATIONS = 500;
export const GITHUB_REPOSITORY = 'octo/hello';
export const discordChannel = (n: number): string => String(645_027_906_669_520_000n + BigInt(n));
export const slackChannel = (n: number): string => `C${String(n).padStart(9, '0')}`;

const PADDING = ' lorem ipsum'.repeat(40);
const GITHUB_SECRET = 'the secret of the webhook, long enough';
const DISCORD = generateKeyPairSync('ed25519');
const DISCORD_KEY = DISCORD.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
const FIRST_INTERACTION = 1_500_000_000_000_000_000n;
const TELEGRAM_SECRET = 'a_secret-of-the-webhook';

export interface Source {
  readonly name: string;
  /** Answers that all its accounts may send in a second, with room to spare. */
  readonly asksPerSecond: number;
  /** Keys of the n-th account. */
  readonly account: (n: number) => Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  readonly post: (of: Said) => Post;
}

interface Said {
  /** Grows by one with each delivery of the platform. */
  readonly n: number;
  readonly account: number;
  readonly conversation: number;
  readonly text: string;
}

/** The n-th delivery of a source that is sent so often. */
export function deliveryOf({ post, asksPerSecond }: Source, n: number, perSecond: number): Post {
  const share = asksPerSecond / perSecond;
  const asks = Math.floor((n + 1) * share) > Math.floor(n * share);
  const account = n % ACCOUNTS;
  const conversation = Math.floor(n / ACCOUNTS) % CONVERSATIONS;
  return post({ n, account, conversation, text: `${asks ? 'ask' : 'say'} ${n}${PADDING}` });
}

const hmac = (secret: string | Buffer, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', secret).update(text).digest(encoding);
const json = { 'content-type': 'application/json' };
const seconds = (): number => Math.floor(Date.now() / 1_000);

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
export function sourcesOf({ telegram, slack, github, discord, webhook, line }: Addresses): readonly Source[] {
  return [
    {
      name: 'telegram',
      asksPerSecond: 80,
      account: (n) => ({
        mode: 'webhook',
        token: `\${TELEGRAM_${n}}`,
        secrets: ['${TELEGRAM_SECRET}'],
        apiUrl: telegram.url,
      }),
      env: {
        TELEGRAM_SECRET,
        ...Object.fromEntries(telegram.tokens.map((token, n) => [`TELEGRAM_${n}`, token])),
      },
      post({ n, account, conversation, text }) {
        const person = { id: 1_000 + conversation, is_bot: false, first_name: 'Ann' };
        const message = {
          message_id: n + 1,
          date: seconds(),
          chat: { ...person, type: 'private' },
          from: person,
          text,
        };
        return {
          path: `/webhooks/telegram/a${account}`,
          headers: { ...json, 'x-telegram-bot-api-secret-token': TELEGRAM_SECRET },
          body: JSON.stringify({ update_id: 10_000 + n, message }),
        };
      },
    },
    {
      name: 'slack',
      asksPerSecond: 14,
      account: () => ({ token: '${SLACK_TOKEN}', secrets: ['${SLACK_SECRET}'], apiUrl: slack.url }),
      env: { SLACK_TOKEN: slack.token, SLACK_SECRET: slack.secret },
      post({ n, account, conversation, text }) {
        const ts = `${seconds()}.${String(n).padStart(6, '0')}`;
        const event = {
          type: 'message',
          channel: slackChannel(conversation),
          channel_type: 'channel',
          user: 'U061F7AUR',
          text,
          ts,
        };
        const envelope = {
          team_id: 'T123ABC456',
          api_app_id: 'A123ABC456',
          type: 'event_callback',
          event_id: `Ev${n}`,
          event_time: seconds(),
        };
        const authorizations = [
          { team_id: 'T123ABC456', user_id: 'U0LAN0Z89', is_bot: true, is_enterprise_install: false },
        ];
        const body = JSON.stringify({ ...envelope, event, authorizations });
        const at = String(seconds());
        const signature = `v0=${hmac(slack.secret, `v0:${at}:${body}`, 'hex')}`;
        const headers = { ...json, 'x-slack-request-timestamp': at, 'x-slack-signature': signature };
        return { path: `/webhooks/slack/a${account}`, headers, body };
      },
    },
    {
      name: 'github',
      asksPerSecond: 3,
      account: () => ({
        login: 'helper-bot',
        token: '${GITHUB_TOKEN}',
        secrets: ['${GITHUB_SECRET}'],
        apiUrl: github.url,
      }),
      env: { GITHUB_TOKEN: github.token, GITHUB_SECRET },
      post({ account, conversation, text }) {
        const body = JSON.stringify({
          action: 'created',
          repository: { full_name: GITHUB_REPOSITORY },
          issue: { number: 1 + conversation, title: 'Spelling' },
          comment: { id: 12, body: text, user: { login: 'ann' }, created_at: '2026-01-01T00:00:00Z' },
          sender: { login: 'ann' },
        });
        const signature = `sha256=${hmac(GITHUB_SECRET, body, 'hex')}`;
        const headers = {
          'x-github-event': 'issue_comment',
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': signature,
        };
        return { path: `/webhooks/github/a${account}`, headers: { ...json, ...headers }, body };
      },
    },
    {
      name: 'discord',
      asksPerSecond: 80,
      account: () => ({
        mode: 'interactions',
        token: '${DISCORD_TOKEN}',
        applicationId: discord.application,
        publicKeys: [DISCORD_KEY],
        apiUrl: discord.url,
      }),
      env: { DISCORD_TOKEN: discord.token },
      post({ n, account, conversation, text }) {
        const channel_id = discordChannel(conversation);
        const options = [{ name: 'text', type: 3, value: text }];
        const body = JSON.stringify({
          id: String(FIRST_INTERACTION + BigInt(n)),
          token: `interaction-token-${n}`,
          application_id: discord.application,
          type: 2,
          version: 1,
          context: 0,
          data: { id: '1', name: 'count', type: 1, options },
          member: {
            user: { id: '53908232506183680', username: 'Ann' },
            roles: [],
            permissions: '2147483647',
            nick: null,
          },
          guild_id: '290926798626357999',
          channel_id,
          channel: { id: channel_id, name: 'general', type: 0 },
        });
        const at = String(seconds());
        const signature = sign(null, Buffer.from(`${at}${body}`), DISCORD.privateKey).toString('hex');
        const headers = { ...json, 'x-signature-ed25519': signature, 'x-signature-timestamp': at };
        return { path: `/webhooks/discord/a${account}`, headers, body };
      },
    },
    {
      name: 'webhook',
      asksPerSecond: 60,
      account: () => ({ url: webhook.url, secrets: ['${HOOK_SECRET}'] }),
      env: { HOOK_SECRET: webhook.secret },
      post({ account, conversation, text }) {
        const [id, at] = [`evt_${randomUUID()}`, String(seconds())];
        const body = JSON.stringify({ conversation: { id: `c${conversation}` }, user: { id: 'ann' }, text });
        const key = Buffer.from(webhook.secret.replace('whsec_', ''), 'base64');
        const signature = `v1,${hmac(key, `${id}.${at}.${body}`, 'base64')}`;
        const headers = { ...json, 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature };
        return { path: `/webhooks/webhook/a${account}`, headers, body };
      },
    },
    {
      name: 'line',
      asksPerSecond: 80,
      account: () => ({
        channelAccessToken: '${LINE_TOKEN}',
        channelSecrets: ['${LINE_SECRET}'],
        apiUrl: line.url,
        dataApiUrl: line.url,
      }),
      env: { LINE_TOKEN: line.token, LINE_SECRET: line.secret },
      post({ n, account, conversation, text }) {
        const source = { type: 'user', userId: `U${String(conversation).padStart(32, '0')}` };
        const message = { type: 'text', id: String(460_000_000_000 + n), quoteToken: `q${n}`, text };
        const event = {
          type: 'message',
          mode: 'active',
          timestamp: Date.now(),
          webhookEventId: randomUUID(),
          replyToken: 'nHuyWiB7yP5Zw52FIkcQobQuGDXCTA',
          deliveryContext: { isRedelivery: false },
          source,
          message,
        };
        const body = JSON.stringify({ destination: `U${'b0'.repeat(16)}`, events: [event] });
        const headers = { ...json, 'x-line-signature': hmac(line.secret, body, 'base64') };
        return { path: `/webhooks/line/a${account}`, headers, body };
      },
    },
  ];
}
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
