// Rooms of one session (XEP-0045): membership, our nick and the occupants.
//
//   XMPP-ROOMS-1  A room that refuses, does not answer or removes us is tried again without limit: after `rejoinMs`.
//                 After a ban or a final refusal the wait is ten times as long. Meanwhile the account is degraded with room and reason.
//   XMPP-ROOMS-2  While the wanted nick is in use, another one is used. The wanted one is taken as soon as it is free.
//   XMPP-ROOMS-3  Member changes arrive only after we have joined. The initial list of occupants is no change.
//   XMPP-ROOMS-4  A room destroyed by its owner is not created again while the account's settings exist. Only a room that exists again is joined.
import type { XmlElement } from '@xmpp/client';
import type { Logger } from '../../sdk/index.ts';
import { type Account, nickOf, type Room } from './config.ts';
import { infoOf } from './connection/disco.ts';
import type { Session } from './connection/session.ts';
import type { Occupant } from './parse.ts';
import { bareOf, faultOf, NS, resourceOf } from './stanza.ts';

export interface RoomsOptions {
  readonly account: Account;
  readonly log: Logger;
  /** The current connection. */
  readonly session: () => Pick<Session, 'xml' | 'write' | 'request' | 'after' | 'timing'>;
  /** Rooms destroyed by their owners. Kept over connections. */
  readonly destroyed: Set<string>;
  /** Start of the history wanted from a room without an archive, epoch ms. */
  since(room: string): number | undefined;
  /** A person joined or left a room of ours. */
  member(change: {
    readonly room: string;
    readonly nick: string;
    readonly user: string;
    readonly change: 'joined' | 'left';
  }): void;
  /** We joined or left a room. */
  changed(room: string, isJoined: boolean): void;
}

interface Place {
  readonly room: Room;
  readonly jid: string;
  nick: string;
  state: 'out' | 'joining' | 'joined';
  /** Why we are not in the room. */
  reason: string | undefined;
  isFinal: boolean;
  triedNicks: number;
  /** Number of attempts to join. */
  asked: number;
  readonly occupants: Map<string, Occupant>;
}

const MORE_NICKS = 5;
const OUT: Readonly<Record<string, string>> = {
  '301': 'banned',
  '307': 'kicked',
  '321': 'no longer a member',
  '322': 'for members only now',
  '332': 'the service is going down',
  '333': 'removed by an error',
};
const DESTROYED = 'its owner destroyed it';
const FINAL = new Set(['forbidden', 'not-authorized', 'registration-required', 'not-allowed']);

export class Rooms {
  readonly #options: RoomsOptions;
  readonly #places: ReadonlyMap<string, Place>;

  constructor(options: RoomsOptions) {
    this.#options = options;
    this.#places = new Map(
      options.account.rooms.map((room) => [
        bareOf(room.jid),
        {
          room,
          jid: bareOf(room.jid),
          nick: nickOf(options.account, room),
          state: 'out',
          reason: undefined,
          isFinal: false,
          triedNicks: 0,
          asked: 0,
          occupants: new Map(),
        },
      ]),
    );
  }

  get all(): readonly string[] {
    return [...this.#places.keys()];
  }
  /** Our nick in a configured room. Undefined for any other address. */
  nickIn(room: string): string | undefined {
    return this.#places.get(room)?.nick;
  }
  occupant(room: string, nick: string): Occupant | undefined {
    return this.#places.get(room)?.occupants.get(nick);
  }
  /** A person's nick, by real address. */
  nickOf(room: string, jid: string): string | undefined {
    for (const [nick, occupant] of this.#places.get(room)?.occupants ?? []) if (occupant.jid === jid) return nick;
    return undefined;
  }
  /** Reason why the room accepts no message now. Undefined if it does. */
  closed(room: string): { readonly reason: string; readonly isFinal: boolean } | undefined {
    const place = this.#places.get(room);
    if (place === undefined) return { reason: 'this room is not in the configuration of the account', isFinal: true };
    return place.state === 'joined' ? undefined : { reason: place.reason ?? 'not joined yet', isFinal: place.isFinal };
  }
  get isSettled(): boolean {
    return [...this.#places.values()].every(({ state, reason }) => state === 'joined' || reason !== undefined);
  }
  get trouble(): string | undefined {
    const out = [...this.#places.values()].filter(({ state }) => state !== 'joined');
    return out.length === 0
      ? undefined
      : `not in ${out.map(({ jid, reason }) => `${jid}: ${reason ?? 'no answer yet'}`).join('; ')}`.slice(0, 500);
  }

  join(): void {
    for (const place of this.#places.values()) if (place.state !== 'joined') this.#enter(place);
  }

  /** Whether the stanza concerned a configured room. */
  onPresence(stanza: XmlElement): boolean {
    const from = stanza.attrs['from'] ?? '';
    const place = this.#places.get(bareOf(from));
    if (place === undefined) return false;
    const { type } = stanza.attrs;
    if (type === 'error') this.#refused(place, stanza);
    else if (type === 'unavailable') this.#left(place, resourceOf(from), stanza);
    else if (type === undefined) this.#came(place, resourceOf(from), stanza);
    return true;
  }

  /** The room has dropped us without a notice (XEP-0410). */
  lost(room: string, reason: string): void {
    const place = this.#places.get(room);
    if (place?.state === 'joined') this.#out(place, reason, false);
  }

  /** Joins the room. A room destroyed by its owner is joined only if it exists again, since joining would create it. */
  #enter(place: Place): void {
    const { destroyed } = this.#options;
    if (!destroyed.has(place.jid)) return this.#join(place);
    const session = this.#options.session();
    void infoOf(session, place.jid).then(
      (info) => {
        if (place.state !== 'out') return;
        if (info === undefined) return this.#out(place, DESTROYED, true);
        destroyed.delete(place.jid);
        this.#join(place);
      },
      () => this.#again(place, session),
    );
  }

  #join(place: Place): void {
    const { account, since } = this.#options;
    const session = this.#options.session();
    const { xml } = session;
    const wanted = nickOf(account, place.room);
    const asked = ++place.asked;
    session.after(session.timing.joinMs, () => {
      if (place.state === 'joining' && place.asked === asked) this.#out(place, 'no answer', false);
    });
    place.state = 'joining';
    place.occupants.clear();
    place.nick = `${wanted}${'_'.repeat(place.triedNicks)}`;
    const from = since(place.jid);
    const history: Record<string, string> =
      from === undefined ? { maxstanzas: '0' } : { since: new Date(from).toISOString() };
    const password = place.room.password?.reveal();
    const x = xml(
      'x',
      { xmlns: NS.muc },
      xml('history', history),
      password === undefined ? undefined : xml('password', {}, password),
    );
    this.#write(xml('presence', { to: `${place.jid}/${place.nick}` }, x));
  }

  #came(place: Place, nick: string, stanza: XmlElement): void {
    const x = stanza.getChild('x', NS.mucUser);
    const item = x?.getChild('item')?.attrs;
    const isNew = !place.occupants.has(nick);
    const jid = item?.['jid'] === undefined ? undefined : bareOf(item['jid']);
    const admin =
      item?.['affiliation'] === 'owner' || item?.['affiliation'] === 'admin' || item?.['role'] === 'moderator';
    place.occupants.set(nick, { jid, admin });
    const statuses = statusesOf(x);
    if (statuses.has('201')) this.#unlock(place);
    if (statuses.has('110')) return this.#joined(place, nick);
    if (isNew && place.state === 'joined' && nick !== place.nick) this.#tell(place, nick, 'joined');
  }

  #joined(place: Place, nick: string): void {
    place.nick = nick;
    if (place.state === 'joined') return;
    Object.assign(place, { state: 'joined', reason: undefined, isFinal: false, triedNicks: 0 });
    this.#options.log.info({ room: place.jid, nick }, 'joined a room');
    this.#options.changed(place.jid, true);
  }

  #left(place: Place, nick: string, stanza: XmlElement): void {
    const x = stanza.getChild('x', NS.mucUser);
    const statuses = statusesOf(x);
    const next = x?.getChild('item')?.attrs['nick'];
    const occupant = place.occupants.get(nick);
    const isUs = statuses.has('110') || nick === place.nick;
    if (statuses.has('303') && next !== undefined) {
      if (occupant !== undefined) place.occupants.set(next, occupant);
      if (isUs) place.nick = next;
      place.occupants.delete(nick);
    } else if (isUs && place.state === 'joined') {
      const code = Object.keys(OUT).find((one) => statuses.has(one));
      const isDestroyed = x?.getChild('destroy') !== undefined;
      if (isDestroyed) this.#options.destroyed.add(place.jid);
      const reason = isDestroyed ? DESTROYED : ((code && OUT[code]) ?? 'left');
      return this.#out(place, reason, isDestroyed || code === '301' || code === '321' || code === '322');
    } else if (!isUs && occupant !== undefined) {
      if (place.state === 'joined') this.#tell(place, nick, 'left');
      place.occupants.delete(nick);
    }
    const wanted = nickOf(this.#options.account, place.room);
    if (nick === wanted && place.nick !== wanted && place.state === 'joined')
      this.#write(this.#options.session().xml('presence', { to: `${place.jid}/${wanted}` })); // the wanted nick is free again
  }

  #refused(place: Place, stanza: XmlElement): void {
    if (place.state !== 'joining') return; // a failed attempt to change the nick
    const { condition, text } = faultOf(stanza);
    if (condition === 'conflict' && place.triedNicks < MORE_NICKS) {
      place.triedNicks += 1;
      return this.#join(place);
    }
    place.triedNicks = 0;
    this.#out(place, `${condition}${text === '' ? '' : ` (${text})`}`, FINAL.has(condition));
  }

  #out(place: Place, reason: string, isFinal: boolean): void {
    const { log, changed } = this.#options;
    if (place.reason !== reason) log.warn({ room: place.jid, reason }, 'not in a room: it is tried again');
    Object.assign(place, { state: 'out', reason, isFinal });
    changed(place.jid, false);
    this.#again(place, this.#options.session());
  }

  #again(place: Place, session: Pick<Session, 'after' | 'timing'>): void {
    const { rejoinMs } = session.timing;
    session.after(place.isFinal ? rejoinMs * 10 : rejoinMs, () => {
      if (place.state === 'out') this.#enter(place);
    });
  }

  /** A room that we created stays locked until its settings are submitted. The service's defaults are used. */
  #unlock({ jid }: Place): void {
    const { log, session } = this.#options;
    const { xml } = session();
    log.info({ room: jid }, 'made a room that was not there');
    const settings = xml('query', { xmlns: NS.mucOwner }, xml('x', { xmlns: NS.forms, type: 'submit' }));
    this.#write(xml('iq', { type: 'set', to: jid, id: `open-${jid}` }, settings));
  }

  /** A lost connection is reported by the session, and the next one joins again. */
  #write(stanza: XmlElement): void {
    void this.#options
      .session()
      .write(stanza)
      .catch(() => {});
  }

  #tell(place: Place, nick: string, change: 'joined' | 'left'): void {
    const user = place.occupants.get(nick)?.jid ?? `${place.jid}/${nick}`;
    this.#options.member({ room: place.jid, nick, user, change });
  }
}

const statusesOf = (x: XmlElement | undefined): ReadonlySet<string> =>
  new Set(x?.getChildren('status').map(({ attrs }) => attrs['code'] ?? ''));
