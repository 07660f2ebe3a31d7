// IRC: nobody acknowledges a line, in either direction. What was written to a connection that ends may be lost; what svc has stored may not.
import { FakeIrcServer } from '../../../../support/fake-platforms/irc-server.ts';
import { type OpenPlatform, type Platform, writtenWhen } from '../platform.ts';

export const irc: Platform = {
  name: 'irc',
  repeats: 'none',
  mostOwed: 4,
  conversations: 6,
  async open(t): Promise<OpenPlatform> {
    const server = new FakeIrcServer();
    await server.listen(t);
    return {
      slot: 'irc',
      account: {
        id: 'net',
        server: '127.0.0.1',
        port: server.port,
        tls: false,
        nick: 'svcbot',
        burstLines: 1_000,
        linesPerSecond: 1_000,
      },
      deliver: ({ token, text, conversation }, to) =>
        writtenWhen(() => server.say(`u${conversation}`, text, token) !== undefined, to),
      answers: (from) => server.heard.slice(from).map(({ text }) => text),
    };
  },
};
