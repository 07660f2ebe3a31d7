// The client library on our own socket, without its reconnecting, and with session resumption (XEP-0198).
//
//   XMPP-CLIENT-1  A stanza is acknowledged to the server once it is stored (`handled`), not when it is read.
//                  After a crash the server therefore still has it.
//   XMPP-CLIENT-2  Stanzas that the server had not acknowledged when the connection broke are kept.
//                  A resumed session sends these stanzas again; otherwise they fail.
import { resolveSrv } from 'node:dns/promises';
import type { ClientOptions, Transport, Xml, XmlElement, XmppEntity } from '@xmpp/client';
import { type Account, domainOf, localOf } from '../config.ts';
import { NS } from '../stanza.ts';
import { quickenScram } from './scram.ts';
import { type SocketTarget, XmppSocket } from './socket.ts';

/** State of a session that the next connection needs to resume it. */
export interface Resumable {
  readonly id: string;
  readonly jid: string;
  /** Number of stored stanzas from the server. */
  readonly handled: number;
  readonly outbound: number;
  readonly queue: XmppEntity['streamManagement']['outbound_q'];
}

export interface OpenClient {
  readonly entity: XmppEntity;
  readonly xml: Xml;
  readonly socket: () => XmppSocket | undefined;
  /** Number of the stanza being read, to be passed to `handled`. */
  readonly current: () => number;
  /** Marks a stanza as stored. The server gets an acknowledgement once all stanzas before it are stored too. */
  readonly handled: (number: number) => void;
  /** State of the ended session. Undefined if it cannot be resumed. */
  readonly leave: () => Resumable | undefined;
}

const OPEN_MS = 20_000;

export async function makeClient(
  account: Account,
  attempt: number,
  former: Resumable | undefined,
): Promise<OpenClient> {
  const { client, xml } = await import('@xmpp/client');
  const target = await targetOf(account, attempt);
  const sockets: XmppSocket[] = [];
  const entity = client(optionsOf(account));
  entity.reconnect.stop();
  quickenScram(entity);
  entity.transports = [transportOf(entity, target, sockets)];
  entity._onSeeOtherHost = (error) => entity.emit('error', error); // a redirect could lead to a host outside the configuration
  const sm = entity.streamManagement;
  sm.requestAckDebounce = 10;
  if (former !== undefined) {
    sm.id = former.id;
    sm.inbound = former.handled;
    sm.outbound = former.outbound;
    sm.outbound_q = former.queue;
    entity._jid(former.jid);
  }
  const acks = ownAcks({ entity, xml, first: former?.handled ?? 0, read: () => sockets.at(-1)?.stanzaRead() });
  const leave = (): Resumable | undefined =>
    !sm.id // undefined if the server cannot resume
      ? undefined
      : { id: sm.id, jid: String(entity.jid), handled: acks.stored(), outbound: sm.outbound, queue: sm.outbound_q };
  return { entity, xml, socket: () => sockets.at(-1), current: acks.current, handled: acks.handled, leave };
}

function optionsOf(account: Account): ClientOptions {
  return {
    service: 'xmpp://server',
    domain: domainOf(account),
    resource: account.resource,
    timeout: OPEN_MS,
    credentials: async (authenticate, mechanisms) => {
      const mechanism = account.tls === 'none' ? mechanisms.find((one) => one !== 'PLAIN') : mechanisms[0];
      if (mechanism === undefined || mechanism === 'ANONYMOUS')
        throw Object.assign(new Error('no mechanism'), { name: 'SASLError', condition: 'SASL: no mechanism' });
      await authenticate({ username: localOf(account), password: account.password.reveal() }, mechanism);
    },
  };
}

/** The library's TCP transport on our socket. */
function transportOf(entity: XmppEntity, target: SocketTarget, sockets: XmppSocket[]): Transport {
  const Tcp = entity.transports.find(({ prototype }) => prototype.socketParameters('xmpp://x:1') !== undefined);
  if (Tcp === undefined) throw new Error('the client library has no transport over TCP');
  const Own = class extends (Tcp as new () => object) {};
  Object.assign(Own.prototype, {
    Socket: class extends XmppSocket {
      constructor() {
        super();
        sockets.push(this);
      }
    },
    socketParameters: () => target,
  });
  return Own as unknown as Transport;
}

/** Counts received stanzas and replaces the number in the library's acknowledgements with that of stored stanzas. */
function ownAcks({
  entity,
  xml,
  first,
  read,
}: {
  readonly entity: XmppEntity;
  readonly xml: Xml;
  readonly first: number;
  readonly read: () => void;
}): { current(): number; handled(number: number): void; stored(): number } {
  // Numbers continue when a session begins (`base`), so that a number from before it is never counted for it.
  let [received, done, base, owed, isAsked] = [first, first, 0, 0, false];
  const early = new Set<number>();
  const send = entity.send.bind(entity);
  const tell = (): Promise<void> => send(xml('a', { xmlns: NS.sm, h: String(done - base) }));
  entity.send = (element) => {
    if (!element.is('a', NS.sm)) return send(element);
    owed = received;
    isAsked = done < received;
    return tell();
  };
  entity.on('element', (element: XmlElement) => {
    read();
    if (['message', 'presence', 'iq'].includes(element.name)) received += 1;
    else if (element.is('enabled', NS.sm) || hasBegunWith(element)) {
      [done, base, isAsked] = [received, received, false];
      early.clear();
    }
  });
  const handled = (number: number): void => {
    if (number <= done) return;
    early.add(number);
    while (early.delete(done + 1)) done += 1;
    if (!isAsked || done < owed) return;
    isAsked = false;
    void tell().catch(() => {}); // connection lost: the next one sends it
  };
  return { current: () => received, handled, stored: () => done - base };
}

/** Whether stream management was enabled together with the login (XEP-0388, XEP-0386), as ejabberd does. */
const hasBegunWith = (element: XmlElement): boolean =>
  element.is('success', NS.sasl2) && element.getChild('bound', NS.bind2)?.getChild('enabled', NS.sm) !== undefined;

/** Address of the server: as configured, else from DNS, else the domain itself. */
async function targetOf(account: Account, attempt: number): Promise<SocketTarget> {
  const domain = domainOf(account);
  const { tls, verifyCertificate } = account;
  const usual = account.port ?? (tls === 'direct' ? 5_223 : 5_222);
  const common = { tls, domain, verifyCertificate, timeoutMs: OPEN_MS };
  if (account.host !== undefined) return { ...common, host: account.host, port: usual };
  const service = tls === 'direct' ? '_xmpps-client' : '_xmpp-client';
  const records = await resolveSrv(`${service}._tcp.${domain}`).catch(() => []);
  const usable = records
    .filter(({ name }) => name !== '' && name !== '.')
    .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
  const one = usable[attempt % Math.max(usable.length, 1)];
  return { ...common, host: one?.name ?? domain, port: one?.port ?? usual };
}
