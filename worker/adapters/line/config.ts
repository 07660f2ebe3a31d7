// Keys of one LINE account: one channel of the Messaging API.
//
//   plugins:
//     line:
//       endpoints:
//         - id: shop                                  # webhook URL: /webhooks/line/shop; then: svc webhooks register line~shop
//           channelAccessToken: ${LINE_TOKEN}         # Messaging API tab, long-lived
//           channelSecrets: ['${LINE_SECRET}']        # Basic settings tab; two while one is renewed
import { t, type Values } from '../../sdk/index.ts';

const address = (ofWhat: string, value: string) =>
  t.string({
    default: value,
    maxLength: 300,
    pattern: '^https?://[^\\s/?#@]+$',
    description: `Address of ${ofWhat}, without a path; another one only for a proxy or a test`,
  });

export const account = {
  channelAccessToken: t.secret({ description: 'Of the channel (Messaging API tab); a long-lived one' }),
  channelSecrets: t.array(t.secret(), {
    minItems: 1,
    maxItems: 8,
    description: 'Of the channel (Basic settings tab); each one verifies deliveries, so that it can be renewed',
  }),
  apiUrl: address('the Messaging API', 'https://api.line.me'),
  dataApiUrl: address('what people have sent (images, videos, files)', 'https://api-data.line.me'),
};
export type Account = Values<typeof account>;

/** Shortest accepted secret. LINE's own have 32 characters. */
const LEAST_SECRET = 8;

/** The reason and remedy if the configuration itself keeps the account from working. Never quotes a secret. */
export function accountFault({
  channelAccessToken,
  channelSecrets,
}: Account): { readonly reason: string; readonly remedy: string } | undefined {
  if (channelSecrets.some((secret) => secret.reveal().length < LEAST_SECRET))
    return {
      reason: `a channel secret has under ${LEAST_SECRET} characters`,
      remedy: 'copy it from the Basic settings tab of the channel into .env and reload',
    };
  if (!/^[!-~]+$/.test(channelAccessToken.reveal()))
    return {
      reason: 'the channel access token is empty or has blanks in it',
      remedy: 'issue one in the Messaging API tab of the channel, put it into .env and reload',
    };
  return undefined;
}
