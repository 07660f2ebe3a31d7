// A person at an XMPP server: a plain socket that speaks the protocol, independent of what the adapter does with its library.
import { connect } from 'node:net';
import { type XmlElement, xml } from '@xmpp/client';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';
import { passwordOf } from './prosody.ts';

export interface XmppPerson {
  readonly jid: string;
  /** Every message of the server, oldest first. */
  readonly messages: readonly XmlElement[];
  readonly presences: readonly XmlElement[];
  raw(text: string): void;
  says(to: string, text: string, more?: string): string;
  /** In a room: the same id as `says` gives. */
  saysIn(room: string, text: string, more?: string): string;
  join(room: string, nick?: string): Promise<void>;
  /** Bodies of messages from this address or room, oldest first. */
  heard(from: string): readonly string[];
  ask(iq: string): Promise<XmlElement>;
  close(): void;
}

const escape = (text: string): string => text.replace(/[&<>'"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export async function xmppPerson(t: Cleanup, port: number, name: string): Promise<XmppPerson> {
  const socket = connect({ port, host: '127.0.0.1' });
  const stanzas: XmlElement[] = [];
  let parser = new xml.Parser();
  let n = 0;
  const raw = (text: string): void => void socket.write(text);
  const begin = (): void => {
    parser = new xml.Parser();
    parser.on('element', (element: XmlElement) => stanzas.push(element));
    raw(
      "<?xml version='1.0'?><stream:stream to='localhost' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>",
    );
  };
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (text: string) => parser.write(text));
  t.after(() => void socket.destroy());
  const seen = (what: string, isIt: (element: XmlElement) => boolean): Promise<XmlElement> =>
    until(() => stanzas.find(isIt), { what: `${name}: ${what}` });

  begin();
  await seen('features', ({ name: of }) => of === 'stream:features');
  const secret = Buffer.from(`\0${name}\0${passwordOf(name)}`).toString('base64');
  raw(`<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${secret}</auth>`);
  await seen('success', ({ name: of }) => of === 'success');
  stanzas.length = 0;
  begin();
  await seen('bind', ({ name: of }) => of === 'stream:features');
  const ask = async (iq: string): Promise<XmlElement> => {
    const id = `${name}-iq-${++n}`;
    raw(iq.replace('<iq ', `<iq id='${id}' `));
    return seen(`an answer to ${id}`, ({ name: of, attrs }) => of === 'iq' && attrs['id'] === id);
  };
  await ask("<iq type='set'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>test</resource></bind></iq>");
  raw('<presence/>');

  const write = (to: string, { type, text, more }: { type: string; text: string; more: string }): string => {
    const id = `${name}-${++n}`;
    raw(`<message to='${escape(to)}' type='${type}' id='${id}'><body>${escape(text)}</body>${more}</message>`);
    return id;
  };
  const of = (kind: string): readonly XmlElement[] => stanzas.filter(({ name: one }) => one === kind);
  return {
    jid: `${name}@localhost`,
    get messages() {
      return of('message');
    },
    get presences() {
      return of('presence');
    },
    raw,
    says: (to, text, more = '') => write(to, { type: 'chat', text, more }),
    saysIn: (room, text, more = '') => write(room, { type: 'groupchat', text, more }),
    async join(room, nick = name) {
      raw(
        `<presence to='${room}/${nick}'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>`,
      );
      await seen(`to be in ${room}`, ({ name: one, attrs, ...element }) => {
        const from = `${room}/${nick}`;
        return one === 'presence' && attrs['from'] === from && String(element) !== '' && attrs['type'] === undefined;
      });
    },
    heard: (from) =>
      of('message').flatMap((message) => {
        const sender = message.attrs['from'] ?? '';
        const body = message.getChildText('body');
        return (sender === from || sender.startsWith(`${from}/`)) && body !== null && message.attrs['type'] !== 'error'
          ? [body]
          : [];
      }),
    ask,
    close: () => socket.destroy(),
  };
}
