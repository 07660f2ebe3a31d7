// The suite that every adapter runs, for onebot11 in mode http. The delivery is the example of the specification (communication/http-post.md).
import { createHmac } from 'node:crypto';
import { onebot11 } from '../../worker/adapters/onebot11/index.ts';
import type { RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';
import { ANSWERED, POSTED } from '../support/accounts/onebot11-examples.ts';

const SECRET = 'the secret that deliveries are signed with';
const TOKEN = 'kSLuTF2GC2Q4q4ugm3';

function delivery(body: string): RawRequest {
  const signature = `sha1=${createHmac('sha1', SECRET).update(body).digest('hex')}`;
  return {
    method: 'POST',
    path: '/webhooks/onebot11/post',
    query: {},
    headers: { 'content-type': 'application/json', 'x-self-id': '10001000', 'x-signature': signature },
    body: Buffer.from(body),
    receivedAt: 1_515_204_255_000,
  };
}

const said = (id: number): RawRequest =>
  delivery(JSON.stringify({ ...(JSON.parse(POSTED) as object), message_id: id }));

let messages = 4_710;
const DATA: Readonly<Record<string, () => object>> = {
  '/send_group_msg': () => ({ data: { message_id: (messages += 1) } }),
  '/get_login_info': () => ({ data: { user_id: 10_001_000, nickname: 'bot' } }),
  '/get_status': () => ({ data: { online: true, good: true } }),
};

adapterContract(onebot11, {
  account: (url) => ({
    mode: 'http',
    url,
    accessTokens: [TOKEN],
    secrets: ['an older secret', SECRET],
    perSecond: 100,
  }),
  conversation: 'group:7',
  elsewhere: 'group:8',
  secrets: [SECRET, TOKEN, 'an older secret'],
  // Of the time nothing is signed but what is in the event: a delivery that is sent again is known by its id.
  unsigned: ['time'],
  platform: ({ path }) => ({ json: { ...ANSWERED, ...DATA[path]?.() } }),
  changes: true,
  // Its connection asks how the bot is.
  history: [],
  without: {
    history: 'an implementation only posts: what it could not deliver it has forgotten',
    idempotent: 'OneBot knows no keys by which a repeat could be dropped',
    finds: 'OneBot shows nothing by which a post could be found again',
    edit: 'QQ lets nothing be changed that was sent',
  },
  good: () => delivery(POSTED),
  // Implementations tell of it when they are told to (`reportSelfMessage`).
  own: () =>
    delivery(JSON.stringify({ ...(JSON.parse(POSTED) as object), user_id: 10_001_000, post_type: 'message_sent' })),
  several: () => [said(15), said(13), said(14)],
  order: [15, 13, 14].map((id) => `10001000/message/${id}/1515204254`),
});
