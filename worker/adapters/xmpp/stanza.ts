// Namespaces and addresses of XMPP, and text that XML can hold. Pure.
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

/** Address without resource, in lower case as servers compare it. */
export function bareOf(jid: string): string {
  const slash = jid.indexOf('/');
  return (slash === -1 ? jid : jid.slice(0, slash)).toLowerCase();
}

/** Part after the first slash. Empty if there is none. */
export function resourceOf(jid: string): string {
  const slash = jid.indexOf('/');
  return slash === -1 ? '' : jid.slice(slash + 1);
}

/** Normal form of an address: name and domain in lower case, the resource unchanged. */
export function normalJid(jid: string): string {
  const resource = resourceOf(jid);
  return resource === '' ? bareOf(jid) : `${bareOf(jid)}/${resource}`;
}

export const isJid = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- what an address may not hold
  text.length <= 3_071 && /^[^@/\s"&'<>]+(?:@[^@/\s"&'<>]+)?(?:\/[^\u0000-\u001f]+)?$/u.test(text);

// oxlint-disable-next-line no-control-regex -- what XML 1.0 cannot hold
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text for XML 1.0: forbidden characters are removed, lone surrogates become U+FFFD. */
export const inert = (text: string): string =>
  text
    .replace(FORBIDDEN, '')
    .replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');

/** Original send time of a delayed stanza, epoch ms. Undefined for a live one. */
export function delayedAt(stanza: XmlElement): number | undefined {
  const at = Date.parse(stanza.getChild('delay', NS.delay)?.attrs['stamp'] ?? '');
  return Number.isFinite(at) ? at : undefined;
}

export interface StanzaFault {
  readonly condition: string;
  readonly text: string;
  readonly type: string;
}

/** The fault in a stanza of type error. */
export const faultOf = (stanza: XmlElement): StanzaFault => faultIn(stanza.getChild('error'));

export function faultIn(error: XmlElement | undefined): StanzaFault {
  const condition = error?.getChildElements().find((one) => one.getNS() === NS.stanzas && !one.is('text'));
  return {
    condition: (condition?.name ?? 'undefined-condition').slice(0, 64),
    text: (error?.getChildText('text', NS.stanzas) ?? '').slice(0, 200),
    type: error?.attrs['type'] ?? '',
  };
}
