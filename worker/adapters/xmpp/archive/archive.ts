// Queries of message archives (XEP-0313), the account's and its rooms': for missed messages, and for a post that may have been sent before.
import { randomUUID } from 'node:crypto';
import type { XmlElement } from '@xmpp/client';
import type { Session } from '../connection/session.ts';
import { delayedAt, NS, normalJid } from '../stanza.ts';

export interface Archived {
  readonly id: string;
  readonly message: XmlElement;
  /** Time of the message, epoch ms. */
  readonly at: number;
}
export interface Page {
  readonly items: readonly Archived[];
  /** Whether this is the last page. */
  readonly isComplete: boolean;
  readonly last: string | undefined;
}
export interface Query {
  /** Only messages after this archive id. */
  readonly after?: string;
  /** Only messages before this archive id. Empty for the newest messages. */
  readonly before?: string;
  /** Only messages from this time on, epoch ms. */
  readonly start?: number;
  readonly with?: string;
  readonly most: number;
}
export interface ArchiveOptions {
  /** The account's bare address. */
  readonly self: string;
  /** The current connection. */
  readonly session: () => Pick<Session, 'xml' | 'request'>;
}

const NO_ARCHIVE_ID = new Set(['item-not-found']);

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #open = new Map<string, { readonly place: string; readonly items: Archived[] }>();

  constructor(options: ArchiveOptions) {
    this.#options = options;
  }

  /** Whether the stanza is part of an archive's answer. Only answers to an open query from the queried archive are kept. */
  take(stanza: XmlElement): boolean {
    const result = stanza.getChild('result', NS.mam);
    if (result === undefined) return false;
    const open = this.#open.get(result.attrs['queryid'] ?? '');
    const from = normalJid(stanza.attrs['from'] ?? this.#options.self);
    const forwarded = result.getChild('forwarded', NS.forward);
    const message = forwarded?.getChild('message');
    const id = result.attrs['id'];
    if (open === undefined || open.place !== from || message === undefined || id === undefined) return true;
    open.items.push({ id, message, at: (forwarded && delayedAt(forwarded)) ?? Date.now() });
    return true;
  }

  /** Undefined if the archive no longer has the id of `after` or `before`. */
  async page(place: string, query: Query): Promise<Page | undefined> {
    const { self, session } = this.#options;
    const { xml } = session();
    const queryid = randomUUID();
    const items: Archived[] = [];
    this.#open.set(queryid, { place, items });
    const field = (name: string, value: string): XmlElement => xml('field', { var: name }, xml('value', {}, value));
    const form = xml(
      'x',
      { xmlns: NS.forms, type: 'submit' },
      xml('field', { var: 'FORM_TYPE', type: 'hidden' }, xml('value', {}, NS.mam)),
      query.start === undefined ? undefined : field('start', new Date(query.start).toISOString()),
      query.with === undefined ? undefined : field('with', query.with),
    );
    const rsm = xml(
      'set',
      { xmlns: NS.rsm },
      xml('max', {}, String(query.most)),
      query.after === undefined ? undefined : xml('after', {}, query.after),
      query.before === undefined ? undefined : xml('before', {}, query.before),
    );
    const to = place === self ? {} : { to: place };
    try {
      const answer = await session().request(
        xml('iq', { type: 'set', ...to }, xml('query', { xmlns: NS.mam, queryid }, form, rsm)),
      );
      const fin = answer.getChild('fin', NS.mam);
      return {
        items,
        isComplete: fin?.attrs['complete'] === 'true' || items.length === 0,
        last: fin?.getChild('set', NS.rsm)?.getChildText('last') ?? items.at(-1)?.id,
      };
    } catch (error) {
      if (NO_ARCHIVE_ID.has((error as { condition?: string }).condition ?? '') && (query.after ?? query.before))
        return undefined;
      throw error;
    } finally {
      this.#open.delete(queryid);
    }
  }
}
