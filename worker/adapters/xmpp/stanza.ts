// Words of XMPP: namespaces, addresses, and text as XML can hold it. Pure.
import type { XmlElement } from '@xmpp/client';

export const NS = {
  bind: 'urn:ietf:params:xml:ns:xmpp-bind',
  carbons: 'urn:xmpp:carbons:2',
  chatStates: 'http://jabber.org/protocol/chatstates',
  correct: 'urn:xmpp:message-correct:0',
  delay: 'urn:xmpp:delay',
  discoInfo: 'http://jabber.org/protocol/disco#info',
  discoItems: 'http://jabber.org/protocol/disco#items',
  fallback: 'urn:xmpp:fallback:0',
  fasten: 'urn:xmpp:fasten:0',
  forms: 'jabber:x:data',
  forward: 'urn:xmpp:forward:0',
  hints: 'urn:xmpp:hints',
  mam: 'urn:xmpp:mam:2',
  moderate: 'urn:xmpp:message-moderate:1',
  moderate0: 'urn:xmpp:message-moderate:0',
  muc: 'http://jabber.org/protocol/muc',
  mucOwner: 'http://jabber.org/protocol/muc#owner',
  mucUser: 'http://jabber.org/protocol/muc#user',
  oob: 'jabber:x:oob',
  ping: 'urn:xmpp:ping',
  reactions: 'urn:xmpp:reactions:0',
  reference: 'urn:xmpp:reference:0',
  reply: 'urn:xmpp:reply:0',
  retract: 'urn:xmpp:message-retract:1',
  retract0: 'urn:xmpp:message-retract:0',
  rsm: 'http://jabber.org/protocol/rsm',
  sfs: 'urn:xmpp:sfs:0',
  fileMetadata: 'urn:xmpp:file:metadata:0',
  urlData: 'http://jabber.org/protocol/url-data',
  sid: 'urn:xmpp:sid:0',
  bind2: 'urn:xmpp:bind:0',
  sasl2: 'urn:xmpp:sasl:2',
  sm: 'urn:xmpp:sm:3',
  stanzas: 'urn:ietf:params:xml:ns:xmpp-stanzas',
  upload: 'urn:xmpp:http:upload:0',
} as const;

/** Without the resource, in the form in which servers compare it. */
export function bareOf(jid: string): string {
  const slash = jid.indexOf('/');
  return (slash === -1 ? jid : jid.slice(0, slash)).toLowerCase();
}

/** Behind the first slash; empty where there is none. */
export function resourceOf(jid: string): string {
  const slash = jid.indexOf('/');
  return slash === -1 ? '' : jid.slice(slash + 1);
}

/** One form for one address: name and domain in lower case, the resource as it is. */
export function normalJid(jid: string): string {
  const resource = resourceOf(jid);
  return resource === '' ? bareOf(jid) : `${bareOf(jid)}/${resource}`;
}

export const isJid = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- what an address may not hold
  text.length <= 3_071 && /^[^@/\s"&'<>]+(?:@[^@/\s"&'<>]+)?(?:\/[^\u0000-\u001f]+)?$/u.test(text);

// oxlint-disable-next-line no-control-regex -- what XML 1.0 cannot hold
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** What XML 1.0 can hold: other characters are left out, halves of a pair become U+FFFD. */
export const inert = (text: string): string =>
  text
    .replace(FORBIDDEN, '')
    .replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');

/** Epoch ms of a delayed stanza's first sending; undefined for one that is fresh. */
export function delayedAt(stanza: XmlElement): number | undefined {
  const at = Date.parse(stanza.getChild('delay', NS.delay)?.attrs['stamp'] ?? '');
  return Number.isFinite(at) ? at : undefined;
}

export interface StanzaFault {
  readonly condition: string;
  readonly text: string;
  readonly type: string;
}

/** Of a stanza of type error. */
export const faultOf = (stanza: XmlElement): StanzaFault => faultIn(stanza.getChild('error'));

export function faultIn(error: XmlElement | undefined): StanzaFault {
  const condition = error?.getChildElements().find((one) => one.getNS() === NS.stanzas && !one.is('text'));
  return {
    condition: (condition?.name ?? 'undefined-condition').slice(0, 64),
    text: (error?.getChildText('text', NS.stanzas) ?? '').slice(0, 200),
    type: error?.attrs['type'] ?? '',
  };
}
