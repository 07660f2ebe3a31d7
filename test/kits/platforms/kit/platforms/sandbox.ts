// The sandbox: its messages are rows of the host, shown once by their key.
import { HostApi } from '../../../crash/kit/host-api.ts';
import type { Shown } from '../extras.ts';
import { Links } from '../links.ts';
import { type OpenPlatform, type Platform, push } from '../platform.ts';

export const sandbox: Platform = {
  name: 'sandbox',
  extras: ['edited', 'file', 'reacted'],
  repeats: 'key',
  mostOwed: Number.POSITIVE_INFINITY,
  conversations: 6,
  isReadLate: true,
  // It shows the newest 500 messages of each.
  linesAConversation: 200,
  async open(): Promise<OpenPlatform> {
    const said: Shown[] = [];
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
      answers: (from) => said.slice(from).map(({ text }) => text),
      shown: () => said,
      async finish(to) {
        const [api, links] = [new HostApi(to.url, to.token), new Links()];
        for (const one of people) {
          const messages = await api.shownTo(one);
          const texts = messages.map(({ text }) => text);
          await links.open(texts, to);
          said.push(...messages.map(({ text, reactions }) => ({ text, reactions, files: links.filesOf(text) })));
        }
      },
    };
  },
};
