// The sample adapter with every fixture that the suite has: test/contract/samples shows the few that are needed.
import { createHmac } from 'node:crypto';
import { parse, type RawRequest, t } from 'svc';
import { adapterContract } from 'svc/testing';
import pigeon from './samples/pigeon.ts';

const sign = (text: string, secret: string): string => createHmac('sha256', secret).update(text).digest('hex');
const events = [1, 2, 3].map((n) => ({
  id: `e${n}`,
  type: 'message',
  room: { id: 'r', kind: 'group' },
  message: `m${n}`,
  at: n,
  from: { id: `u${n}`, name: '', me: n === 2 },
  text: 'hi',
}));
const delivered = (...of: readonly number[]): RawRequest => {
  const body = Buffer.from(JSON.stringify({ events: of.map((n) => events[n - 1]), cursor: '' }));
  const at = 1_767_000_000;
  const signature = sign(`${at}.${body.toString()}`, 'sgn');
  return {
    method: 'POST',
    path: '',
    query: {},
    body,
    receivedAt: at * 1_000,
    headers: { 'pigeon-signature': `t=${at},v1=${signature}` },
  };
};
adapterContract(pigeon, {
  account: (url) => ({ url, token: 'tok', signing: 'sgn' }),
  secrets: ['tok', 'sgn'],
  history: ['e1', 'e3'],
  changes: true,
  good: () => delivered(1, 2, 3),
  own: () => delivered(2),
  several: () => [delivered(3, 1)],
  order: ['e3', 'e1'],
  without: {
    connect: 'Pigeon keeps no connection',
    react: 'Pigeon knows no reactions',
    check: 'Pigeon tells nothing of an account',
  },
  platform({ method, path, query, body }) {
    if (method === 'GET')
      return {
        json: {
          events: events.slice(Number(query['after'])).slice(0, 2),
          cursor: `${Math.min(Number(query['after']) + 2, 3)}`,
        },
      };
    if (method !== 'POST') return { json: { id: path.split('/').at(-1) } };
    return {
      status: 201,
      json: {
        id: `p-${parse(t.object({ client_id: t.string() }), JSON.parse(Buffer.from(body).toString())).client_id}`,
      },
    };
  },
});
