// XMPP at a real server, Prosody, which keeps an archive: what was said while the bot was gone is read from there, so nothing may be lost. It
// knows no keys of sends: svc asks the archive before it repeats one.
import { passwordOf, prosody, prosodyMissing } from '../../../support/prosody.ts';
import { xmppPerson } from '../../../support/xmpp-person.ts';
import { grown, type OpenPlatform, type Platform } from '../platform.ts';

const BOT = 'bot';
const CONVERSATIONS = 4;

export const xmpp: Platform = {
  name: 'xmpp',
  repeats: 'search',
  mostOwed: 8,
  conversations: CONVERSATIONS,
  missing: prosodyMissing,
  async open(t): Promise<OpenPlatform> {
    const names = Array.from({ length: CONVERSATIONS }, (_, n) => `person${n + 1}`);
    const server = await prosody(t, { users: [BOT, ...names] });
    const people = await Promise.all(names.map((name) => xmppPerson(t, server.port, name)));
    const jid = `${BOT}@localhost`;
    const read = people.map((person) =>
      grown(
        () => person.messages.length,
        () => person.heard(jid),
      ),
    );
    const [texts, counts]: [string[], number[]] = [[], people.map(() => 0)];
    return {
      slot: 'xmpp',
      account: {
        id: 'main',
        jid,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        password: '${XMPP_PASSWORD}',
        host: '127.0.0.1',
        port: server.port,
        tls: 'none',
      },
      env: { XMPP_PASSWORD: passwordOf(BOT) },
      async deliver({ text, conversation }) {
        people[conversation - 1]?.says(jid, text);
        return 'kept';
      },
      answers(from) {
        for (const [index, heard] of read.entries()) {
          const fresh = heard(counts[index] ?? 0);
          counts[index] = (counts[index] ?? 0) + fresh.length;
          texts.push(...fresh);
        }
        return texts.slice(from);
      },
    };
  },
};
