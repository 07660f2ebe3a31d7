// Asks a server, room or service for its features (XEP-0030).
import type { XmlElement } from '@xmpp/client';
import { NS } from '../stanza.ts';
import type { Session } from './session.ts';

type Asking = Pick<Session, 'xml' | 'request'>;

/** Undefined if the answer is an error. */
export async function infoOf(session: Asking, jid: string, limitMs?: number): Promise<XmlElement | undefined> {
  const { xml } = session;
  const iq = xml('iq', { type: 'get', to: jid }, xml('query', { xmlns: NS.discoInfo }));
  return (await answered(session.request(iq, limitMs)))?.getChild('query', NS.discoInfo);
}

export async function featuresOf(session: Asking, jid: string, limitMs?: number): Promise<ReadonlySet<string>> {
  const info = await infoOf(session, jid, limitMs);
  return new Set(info?.getChildren('feature').map(({ attrs }) => attrs['var'] ?? ''));
}

/** Addresses of a server's services. */
export async function servicesOf(session: Asking, domain: string): Promise<readonly string[]> {
  const { xml } = session;
  const iq = xml('iq', { type: 'get', to: domain }, xml('query', { xmlns: NS.discoItems }));
  const items = (await answered(session.request(iq)))?.getChild('query', NS.discoItems)?.getChildren('item') ?? [];
  return items.flatMap(({ attrs }) => attrs['jid'] ?? []).slice(0, 50);
}

async function answered(answer: Promise<XmlElement>): Promise<XmlElement | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { name?: string }).name === 'StanzaError') return undefined;
    throw error;
  }
}

/** Features of a room. Empty if it does not answer: the room may be on an unreachable server while ours works. */
export async function featuresOfRoom(session: Asking & Pick<Session, 'timing'>, room: string) {
  try {
    return await featuresOf(session, room, session.timing.joinMs);
  } catch (error) {
    if ((error as { name?: string }).name === 'TimeoutError') return new Set<string>();
    throw error;
  }
}
