// The suite that every adapter runs, for discord. The delivery is the command of Discord's documentation, signed here: interactions are all that
// Discord delivers over HTTP.
import { generateKeyPairSync, sign } from 'node:crypto';
import { discord } from '../../worker/adapters/discord/index.ts';
import type { HttpAnswer, RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';
import { SLASH_COMMAND } from '../support/accounts/discord-examples.ts';

const TOKEN = 'ODQ1MDI3NzM4Mjc2NDYyNjMy.GabcdE.token-of-the-bot-0123456789abcdefgh';
const AT = 1_607_000_000;
const publicOf = (pair: ReturnType<typeof generateKeyPairSync>): string =>
  pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
const [older, current] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];

const delivery = (interaction: object): RawRequest => {
  const body = JSON.stringify(interaction);
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
};

const JSON_TYPE = { 'content-type': 'application/json' };
const ELSEWHERE = '645027906669510668';
const UNKNOWN_MESSAGE = { message: 'Unknown Message', code: 10_008 };

/** "enforce_nonce": the message of a nonce that was there in the last minutes is given back. */
const messages = new Map<string, string>();
function posted({ body }: RawRequest): HttpAnswer {
  const { content, nonce } = JSON.parse(Buffer.from(body).toString()) as { content: string; nonce: string };
  if (Array.from(content).length > 2_000) return { status: 400, json: { message: 'Invalid Form Body', code: 50_035 } };
  const id = messages.get(nonce) ?? String(334_385_199_974_967_042n + BigInt(messages.size));
  messages.set(nonce, id);
  return { headers: JSON_TYPE, json: { id, channel_id: SLASH_COMMAND.channel_id, content } };
}

/** Edits, removals and reactions of a message that is there. */
function changed({ method, path, body }: RawRequest): HttpAnswer {
  const [, id = '', of] = /\/messages\/(\d+)(\/reactions\/[^/]+\/@me)?$/.exec(path) ?? [];
  if (![...messages.values()].includes(id)) return { status: 404, headers: JSON_TYPE, json: UNKNOWN_MESSAGE };
  if (of !== undefined || method === 'DELETE') return { status: 204 };
  const { content } = JSON.parse(Buffer.from(body).toString()) as { content: string };
  return { headers: JSON_TYPE, json: { id, channel_id: SLASH_COMMAND.channel_id, content } };
}

const APPLICATION = {
  id: '845027738276462632',
  name: 'svc',
  verify_key: publicOf(current),
  interactions_endpoint_url: 'https://bot.example/webhooks/discord/main',
};

adapterContract(discord, {
  account: (url) => ({
    token: TOKEN,
    applicationId: '845027738276462632',
    mode: 'interactions',
    publicKeys: [publicOf(older), publicOf(current)],
    apiUrl: `${url}/api`,
  }),
  conversation: SLASH_COMMAND.channel_id,
  elsewhere: ELSEWHERE,
  secrets: [TOKEN, SLASH_COMMAND.token],
  platform(request) {
    const messages = `/api/v10/channels/${SLASH_COMMAND.channel_id}/messages`;
    if ([messages, `/api/v10/channels/${ELSEWHERE}/messages`].includes(request.path)) return posted(request);
    if (request.path.startsWith(`${messages}/`)) return changed(request);
    if (request.path === '/api/v10/applications/@me') return { headers: JSON_TYPE, json: APPLICATION };
    return { status: 404, headers: JSON_TYPE, json: { message: '404: Not Found', code: 0 } };
  },
  changes: true,
  // Its connection only watches over the address.
  history: [],
  without: {
    own: 'no interaction is of the bot itself',
    history: 'Discord delivers an interaction once, and keeps none',
  },
  good: () => delivery(SLASH_COMMAND),
  several: () => ['786008729715212340', '786008729715212339'].map((id) => delivery({ ...SLASH_COMMAND, id })),
  order: ['845027738276462632/i/786008729715212340', '845027738276462632/i/786008729715212339'],
});
