// An XMPP server that does what a test says, for what a real one cannot be made to do: to keep silent, to break off, to misbehave. It speaks
// RFC 6120 in the clear, SCRAM-SHA-1 (RFC 5802), acknowledgements (XEP-0198) and an archive of one page (XEP-0313).
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type XmlElement, xml } from '@xmpp/client';
import type { Cleanup } from '../temporary-project.ts';

export interface FakeXmpp {
  readonly port: number;
  /** Every stanza of clients, oldest first. */
  readonly stanzas: readonly XmlElement[];
  readonly logins: number;
  /** How many stanzas clients have acknowledged, as they said it (XEP-0198). */
  readonly acks: readonly number[];
  /** Writes to every open stream. */
  send(text: string | Uint8Array): void;
  /** Ends every connection without a word. */
  cut(): void;
}

export interface FakeXmppOptions {
  readonly user?: string;
  readonly password?: string;
  /** Text that answers a stanza; undefined: the usual one. */
  readonly answer?: (stanza: XmlElement) => string | undefined;
  /** Messages of people, given out when the client says that it is there. */
  readonly waiting?: readonly string[];
  /** Offers to log in, bind and go on in one (XEP-0388, XEP-0386), as ejabberd does since 24.02: whether it does go on in a session. */
  readonly sasl2?: 'resumes' | 'forgets';
}

const STREAM =
  "<?xml version='1.0'?><stream:stream from='localhost' id='s1' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>";
const SASL = 'urn:ietf:params:xml:ns:xmpp-sasl';
const SASL2 = 'urn:xmpp:sasl:2';
const BIND2 = 'urn:xmpp:bind:0';
const SM = 'urn:xmpp:sm:3';
const INLINE = `<authentication xmlns='${SASL2}'><mechanism>SCRAM-SHA-1</mechanism><inline><bind xmlns='${BIND2}'><inline><feature var='${SM}'/></inline></bind><sm xmlns='${SM}'/></inline></authentication>`;
/** Far below a real server's: the client works through them one by one, and these tests are about what comes after. */
const SALTINGS = 64;

export async function fakeXmpp(t: Cleanup, options: FakeXmppOptions = {}): Promise<FakeXmpp> {
  const stanzas: XmlElement[] = [];
  const acks: number[] = [];
  const sockets = new Set<Socket>();
  const state = { logins: 0 };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    serve(socket, { options, stanzas, acks, loggedIn: () => state.logins++ });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    stanzas,
    acks,
    get logins() {
      return state.logins;
    },
    send: (text) => {
      for (const socket of sockets) socket.write(text);
    },
    cut,
  };
}

interface Serving {
  readonly options: FakeXmppOptions;
  readonly stanzas: XmlElement[];
  readonly loggedIn: () => void;
  readonly acks: number[];
}

function serve(socket: Socket, { options, stanzas, loggedIn, acks }: Serving): void {
  const { user = 'bot', password = 'pw-bot', answer = () => undefined, waiting = [], sasl2 } = options;
  const login = scram(user, password);
  let isLoggedIn = false;
  let counted = 0;
  let asked: XmlElement | undefined;
  let parser = new xml.Parser();
  const say = (text: string): void => void socket.write(text);
  const offer = (): void =>
    say(
      isLoggedIn
        ? `${STREAM}<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='${SM}'/></stream:features>`
        : `${STREAM}<stream:features><mechanisms xmlns='${SASL}'><mechanism>SCRAM-SHA-1</mechanism></mechanisms>${sasl2 === undefined ? '' : INLINE}</stream:features>`,
    );
  const begin = (): void => {
    parser = new xml.Parser();
    parser.on('start', offer);
    parser.on('end', () => socket.end('</stream:stream>'));
    parser.on('error', () => socket.destroy());
    parser.on('element', (element: XmlElement) => {
      if (element.getNS() === SASL) {
        const said = login(element.text());
        say(said);
        if (!said.startsWith('<success')) return;
        isLoggedIn = true;
        loggedIn();
        return begin();
      }
      if (element.getNS() === SASL2) {
        if (element.is('authenticate')) asked = element;
        const said = login(element.getChildText('initial-response') ?? element.text()).replace(SASL, SASL2);
        if (!said.startsWith('<success')) return say(said);
        counted = 0;
        loggedIn();
        const resume = asked?.getChild('resume', SM);
        const isResumed = sasl2 === 'resumes' && resume !== undefined;
        const session = isResumed
          ? `<resumed xmlns='${SM}' h='${stanzas.length}' previd='${resume.attrs['previd']}'/>`
          : `${resume === undefined ? '' : `<failed xmlns='${SM}'/>`}${BOUND}`;
        if (isResumed) counted = stanzas.length;
        return say(`${welcome(said, session)}<stream:features/>`);
      }
      if (element.is('enable', SM)) {
        counted = 0;
        return say(`<enabled xmlns='${SM}'/>`);
      }
      if (element.is('a', SM)) return void acks.push(Number(element.attrs['h']));
      if (element.is('r', SM)) return say(answer(element) ?? `<a xmlns='${SM}' h='${counted}'/>`);
      if (!['iq', 'message', 'presence'].includes(element.name)) return;
      counted += 1;
      stanzas.push(element);
      say(answer(element) ?? usual(element, waiting));
    });
  };
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    try {
      parser.write(text);
    } catch {
      socket.destroy(); // who leaves between login and the next stream closes one that has not begun
    }
  });
  begin();
}

const BOUND = `<bound xmlns='${BIND2}'><enabled xmlns='${SM}' id='session-1' resume='true'/></bound>`;

/** XEP-0388: with what was asked along with the login. */
function welcome(success: string, session: string): string {
  const proof = />([^<]*)</.exec(success)?.[1] ?? '';
  const jid = '<authorization-identifier>bot@localhost/svc~1</authorization-identifier>';
  return `<success xmlns='${SASL2}'><additional-data>${proof}</additional-data>${jid}${session}</success>`;
}

function usual(stanza: XmlElement, waiting: readonly string[]): string {
  const { id = '', type, to } = stanza.attrs;
  if (stanza.name === 'presence') return type === undefined && to === undefined ? waiting.join('') : '';
  if (stanza.name !== 'iq' || (type !== 'get' && type !== 'set')) return '';
  const from = to === undefined ? '' : ` from='${to}'`;
  const result = (inside: string): string => `<iq type='result' id='${id}'${from}>${inside}</iq>`;
  const [child] = stanza.getChildElements();
  switch (child?.getNS()) {
    case 'urn:ietf:params:xml:ns:xmpp-bind':
      return result(`<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>bot@localhost/svc</jid></bind>`);
    case 'http://jabber.org/protocol/disco#info':
      return result(`<query xmlns='http://jabber.org/protocol/disco#info'><feature var='urn:xmpp:mam:2'/></query>`);
    case 'urn:xmpp:mam:2':
      return result("<fin xmlns='urn:xmpp:mam:2' complete='true'><set xmlns='http://jabber.org/protocol/rsm'/></fin>");
    case 'urn:xmpp:ping':
      return result('');
    default:
      return `<iq type='error' id='${id}'${from}><error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>`;
  }
}

/** The server's side of SCRAM-SHA-1: what it says to each thing that the client says. */
function scram(user: string, password: string): (said: string) => string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, SALTINGS, 20, 'sha1');
  const mac = (key: Uint8Array, text: string): Buffer => createHmac('sha1', key).update(text).digest();
  const wrap = (name: string, text: string): string =>
    `<${name} xmlns='${SASL}'>${Buffer.from(text).toString('base64')}</${name}>`;
  const refused = `<failure xmlns='${SASL}'><not-authorized/></failure>`;
  let first: { readonly bare: string; readonly server: string } | undefined;
  return (said) => {
    const text = Buffer.from(said, 'base64').toString();
    if (first === undefined) {
      const bare = text.replace(/^[^,]*,[^,]*,/, '');
      const nonce = /r=([^,]*)/.exec(bare)?.[1] ?? '';
      const reply = `r=${nonce}${randomBytes(9).toString('base64')},s=${salt.toString('base64')},i=${SALTINGS}`;
      first = { bare, server: reply };
      return wrap('challenge', reply);
    }
    const [withoutProof = '', proof = ''] = text.split(',p=');
    const whole = `${first.bare},${first.server},${withoutProof}`;
    const clientKey = mac(salted, 'Client Key');
    const signature = mac(createHash('sha1').update(clientKey).digest(), whole);
    const isRight = Buffer.from(clientKey.map((byte, i) => byte ^ (signature[i] ?? 0))).toString('base64') === proof;
    const isUser = first.bare.startsWith(`n=${user},`);
    first = undefined;
    return isRight && isUser
      ? wrap('success', `v=${mac(mac(salted, 'Server Key'), whole).toString('base64')}`)
      : refused;
  };
}
