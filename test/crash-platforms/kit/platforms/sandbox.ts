// The sandbox: its messages are rows of the host, shown once by their key.
import { HostApi } from '../../../crash/kit/host-api.ts';
import { type OpenPlatform, type Platform, push } from '../platform.ts';

export const sandbox: Platform = {
  name: 'sandbox',
  repeats: 'key',
  mostOwed: Number.POSITIVE_INFINITY,
  conversations: 6,
  isReadLate: true,
  // It shows the newest 500 messages of each.
  linesAConversation: 200,
  async open(): Promise<OpenPlatform> {
    const said: string[] = [];
    const people = new Set<string>();
    const person = (n: number): string => `p${n}`;
    return {
      slot: 'sandbox',
      deliver({ token, text, conversation }, to) {
        people.add(person(conversation));
        const headers = { authorization: `Bearer ${to.token}`, 'content-type': 'application/json' };
        const body = JSON.stringify({ person: person(conversation), text, delivery: token });
        return push(() => ({ path: '/api/chat/say', headers, body }), to);
      },
      answers: (from) => said.slice(from),
      async finish({ url, token }) {
        const api = new HostApi(url, token);
        for (const one of people) said.push(...(await api.said(one)));
      },
    };
  },
};
