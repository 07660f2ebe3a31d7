// The sandbox: its messages are rows of the host, shown once by their key.
import { HostApi } from '../../../crash/kit/host-api.ts';
import { type OpenPlatform, type Platform, push } from '../platform.ts';

const CONVERSATIONS = 6;

export const sandbox: Platform = {
  name: 'sandbox',
  repeats: 'key',
  mostOwed: Number.POSITIVE_INFINITY,
  conversations: CONVERSATIONS,
  isReadLate: true,
  async open(): Promise<OpenPlatform> {
    const said: string[] = [];
    const person = (n: number): string => `p${n}`;
    return {
      slot: 'sandbox',
      deliver({ token, text, conversation }, to) {
        const headers = { authorization: `Bearer ${to.token}`, 'content-type': 'application/json' };
        const body = JSON.stringify({ person: person(conversation), text, delivery: token });
        return push(() => ({ path: '/api/chat/say', headers, body }), to);
      },
      answers: (from) => said.slice(from),
      async finish({ url, token }) {
        const api = new HostApi(url, token);
        for (let n = 1; n <= CONVERSATIONS; n += 1) said.push(...(await api.said(person(n))));
      },
    };
  },
};
