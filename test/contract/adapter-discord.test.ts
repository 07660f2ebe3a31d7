// The suite that every adapter runs, for discord. The delivery is the command of Discord's documentation, signed here: interactions are all that
// Discord delivers over HTTP.
import { generateKeyPairSync, sign } from 'node:crypto';
import { discord } from '../../worker/adapters/discord/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';
import { SLASH_COMMAND } from '../support/discord-examples.ts';

const TOKEN = 'ODQ1MDI3NzM4Mjc2NDYyNjMy.GabcdE.token-of-the-bot-0123456789abcdefgh';
const AT = 1_607_000_000;
const publicOf = (pair: ReturnType<typeof generateKeyPairSync>): string =>
  pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
const [older, current] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];

adapterContract(discord, {
  account: (url) => ({
    token: TOKEN,
    applicationId: '845027738276462632',
    mode: 'interactions',
    publicKeys: [publicOf(older), publicOf(current)],
    apiUrl: `${url}/api`,
  }),
  conversation: SLASH_COMMAND.channel_id,
  secrets: [TOKEN, SLASH_COMMAND.token],
  platform: ({ path }) =>
    path === `/api/v10/channels/${SLASH_COMMAND.channel_id}/messages`
      ? { json: { id: '334385199974967042', channel_id: SLASH_COMMAND.channel_id, content: 'hi' } }
      : { status: 404, json: { message: '404: Not Found', code: 0 } },
  good() {
    const body = JSON.stringify(SLASH_COMMAND);
    const signature = sign(null, Buffer.from(`${AT}${body}`), current.privateKey).toString('hex');
    const headers = {
      'content-type': 'application/json',
      'x-signature-ed25519': signature,
      'x-signature-timestamp': String(AT),
    };
    return {
      method: 'POST',
      path: '/webhooks/discord/main',
      query: {},
      headers,
      body: Buffer.from(body),
      receivedAt: AT * 1_000,
    };
  },
});
