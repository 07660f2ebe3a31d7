// Archives (XEP-0313) of the account and of its rooms: what came while we were away, and whether a post of ours is there already.
import { randomUUID } from 'node:crypto';
import type { XmlElement } from '@xmpp/client';
import type { Session } from '../connection/session.ts';
import { delayedAt, NS, normalJid } from '../stanza.ts';

export interface Archived {
  readonly id: string;
  readonly message: XmlElement;
  /** Epoch ms. */
  readonly at: number;
}
export interface Page {
  readonly items: readonly Archived[];
  /** Nothing is behind it. */
  readonly isComplete: boolean;
  readonly last: string | undefined;
}
export interface Query {
  /** Behind this one. */
  readonly after?: string;
  /** The newest ones, or those before this id. */
  readonly before?: string;
  /** Epoch ms. */
  readonly start?: number;
  readonly with?: string;
  readonly most: number;
}
export interface ArchiveOptions {
  /** The bare address of the account. */
  readonly self: string;
  /** The connection of now. */
  readonly session: () => Pick<Session, 'xml' | 'request'>;
}

const NO_ARCHIVE_ID = new Set(['item-not-found']);

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #open = new Map<string, { readonly place: string; readonly items: Archived[] }>();

  constructor(options: ArchiveOptions) {
    this.#options = options;
  }

  /** True for a part of an answer: only for a query of ours, from the archive that was asked, and not from somebody in that room. */
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

  /** Undefined where `after` or `before` is not in the archive any more. */
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
