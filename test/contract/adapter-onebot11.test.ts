// The suite that every adapter runs, for onebot11 in mode http. The delivery is the example of the specification (communication/http-post.md).
import { createHmac } from 'node:crypto';
import { onebot11 } from '../../worker/adapters/onebot11/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';
import { ANSWERED, POSTED } from '../support/onebot11-examples.ts';

const SECRET = 'the secret that deliveries are signed with';
const TOKEN = 'kSLuTF2GC2Q4q4ugm3';

adapterContract(onebot11, {
  account: (url) => ({
    mode: 'http',
    url,
    accessTokens: [TOKEN],
    secrets: ['an older secret', SECRET],
    perSecond: 100,
  }),
  conversation: 'group:7',
  secrets: [SECRET, TOKEN, 'an older secret'],
  // Of the time nothing is signed but what is in the event: a delivery that is sent again is known by its id.
  unsigned: ['time'],
  platform: ({ path }) => ({
    json: path === '/send_group_msg' ? { ...ANSWERED, data: { message_id: 4711 } } : ANSWERED,
  }),
  good() {
    const signature = `sha1=${createHmac('sha1', SECRET).update(POSTED).digest('hex')}`;
    return {
      method: 'POST',
      path: '/webhooks/onebot11/post',
      query: {},
      headers: { 'content-type': 'application/json', 'x-self-id': '10001000', 'x-signature': signature },
      body: Buffer.from(POSTED),
      receivedAt: 1_515_204_255_000,
    };
  },
});
