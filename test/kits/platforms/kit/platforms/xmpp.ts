// XMPP at a real server, Prosody, which keeps an archive: what was said while the bot was gone is read from there, so nothing may be lost. It
// knows no keys of sends: svc asks the archive before it repeats one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { XmlElement } from '@xmpp/client';
import { passwordOf, prosody, prosodyMissing } from '../../../../support/accounts/prosody.ts';
import { type XmppPerson, xmppPerson } from '../../../../support/accounts/xmpp-person.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';
import { fileShown, type Shown } from '../extras.ts';
import { grown, type OpenPlatform, type Platform } from '../platform.ts';

const BOT = 'bot';
const JID = `${BOT}@localhost`;
const CONVERSATIONS = 4;
const OOB = 'jabber:x:oob';

export const xmpp: Platform = {
  name: 'xmpp',
  repeats: 'search',
  filesApart: true,
  extras: ['edited', 'file', 'reacted', 'given'],
  mostOwed: 8,
  conversations: CONVERSATIONS,
  missing: prosodyMissing,
  async open(t): Promise<OpenPlatform> {
    const names = Array.from({ length: CONVERSATIONS }, (_, n) => `person${n + 1}`);
    const server = await prosody(t, { users: [BOT, ...names] });
    const people = await Promise.all(names.map((name) => xmppPerson(t, server.port, name)));
    const files = await fileServer(t);
    const uploaded = new Map<string, string>();
    const read = people.map((person) =>
      grown(
        () => person.messages.length,
        () => postsTo(person).map(textOf),
      ),
    );
    const [texts, counts]: [string[], number[]] = [[], people.map(() => 0)];
    return {
      slot: 'xmpp',
      account: {
        id: 'main',
        jid: JID,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        password: '${XMPP_PASSWORD}',
        host: '127.0.0.1',
        port: server.port,
        tls: 'none',
        fileHosts: ['127.0.0.1'],
      },
      env: { XMPP_PASSWORD: passwordOf(BOT) },
      async deliver({ token, text, conversation, extra }) {
        const person = people[conversation - 1];
        if (extra !== 'given') person?.says(JID, text);
        else {
          const url = files.serve(`${token}.txt`, text);
          person?.says(JID, url, `<x xmlns='${OOB}'><url>${url}</url></x>`);
        }
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
      async finish() {
        for (const url of people.flatMap(postsTo).flatMap(fileIn)) uploaded.set(url, await (await fetch(url)).text());
      },
      shown: () => people.flatMap((person) => shownTo(person, uploaded)),
    };
  },
};

const fromBot = ({ messages }: XmppPerson): readonly XmlElement[] =>
  messages.filter(({ attrs }) => attrs['type'] !== 'error' && attrs['from']?.startsWith(JID) === true);

/** Without what changes another one. */
const postsTo = (person: XmppPerson): readonly XmlElement[] =>
  fromBot(person).filter((one) => one.getChild('replace') === undefined && one.getChildText('body') !== null);

const fileIn = (message: XmlElement): readonly string[] => {
  const url = message.getChild('x', OOB)?.getChildText('url') ?? undefined;
  return url === undefined ? [] : [url];
};

/** A file is a message of its own, behind its post; its address ends with its name. */
function textOf(message: XmlElement): string {
  const [url] = fileIn(message);
  if (url === undefined) return message.getChildText('body') ?? '';
  return fileShown(/([^/]+)\.txt$/.exec(url)?.[1] ?? url);
}

function shownTo(person: XmppPerson, uploaded: ReadonlyMap<string, string>): readonly Shown[] {
  const messages = fromBot(person);
  return postsTo(person).map((message) => {
    const id = message.attrs['id'];
    const edits = messages.filter((one) => one.getChild('replace')?.attrs['id'] === id);
    const reactions = messages.filter((one) => one.getChild('reactions')?.attrs['id'] === id);
    return {
      text: edits.at(-1)?.getChildText('body') ?? textOf(message),
      files: fileIn(message).map((url) => uploaded.get(url) ?? 'not fetched'),
      reactions: reactions.flatMap((one) => one.getChild('reactions')?.getChildText('reaction') ?? []),
    };
  });
}

/** Where people put what they give away. */
async function fileServer(t: Cleanup): Promise<{ serve(name: string, text: string): string }> {
  const texts = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const text = texts.get(url.slice(1));
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    serve(name, text) {
      texts.set(name, text);
      return `http://127.0.0.1:${port}/${name}`;
    },
  };
}
