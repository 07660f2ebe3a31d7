// State of one login, kept while connections resume it: rooms, archives, and the handling of each stanza.
import type { XmlElement } from '@xmpp/client';
import type { Arrival, Logger } from '../../sdk/index.ts';
import { Archive, type Archived } from './archive/archive.ts';
import type { Queued } from './archive/arrival-queue.ts';
import { CatchUp } from './archive/catch-up.ts';
import type { Mark } from './archive/cursor.ts';
import { type Account, bareJidOf, domainOf } from './config.ts';
import { featuresOf, featuresOfRoom } from './connection/disco.ts';
import type { Session } from './connection/session.ts';
import { archiveIdOf, arrivalsOf, type Came, originOf } from './parse.ts';
import { Rooms } from './rooms.ts';
import { bareOf, delayedAt, faultOf, NS, normalJid, resourceOf } from './stanza.ts';
import type { AccountState } from './state.ts';

export interface ConversationsOptions {
  readonly account: Account;
  readonly state: AccountState;
  readonly log: Logger;
}

/** A room without an archive is asked for this much more history, since clocks differ. Duplicates are dropped. */
const HISTORY_OVERLAP_MS = 60_000;

export class Conversations {
  readonly rooms: Rooms;
  readonly archive: Archive;
  readonly #catchUp: CatchUp;
  readonly #options: ConversationsOptions;
  readonly #self: string;
  readonly #epoch = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  /** Servers and rooms that declare no support for unique message ids (XEP-0359). A sender there could forge such ids. */
  readonly #nameless = new Set<string>();
  #members = 0;
  #isCatchingUp = false;
  /** Reason why missed messages are incomplete. Undefined once they are complete. */
  #gap: string | undefined;
  /** Session with a scheduled retry of the archives. One retry covers all rooms. */
  #retriesOn: Session | undefined;
  #settled: () => void = () => {};

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#self = bareJidOf(options.account);
    this.archive = new Archive({ session: () => this.#session, self: this.#self });
    this.rooms = this.#makeRooms();
    this.#catchUp = new CatchUp({
      archive: this.archive,
      seen: (place) => this.#session.queue.cursor.seen[place],
      take: (archived, mark) => this.#session.queue.push(this.#ofArchive(archived, mark)),
      release: (stanza, place) => this.#session.queue.push(this.#ofLive(stanza, place)),
      mark: (mark) => this.#session.queue.push({ arrivals: [], mark }),
      stored: () => this.#session.queue.drained(),
    });
  }

  get trouble(): string | undefined {
    return this.rooms.trouble ?? this.#gap;
  }
  hasArchive(place: string): boolean {
    return this.#catchUp.hasArchive(place);
  }

  /** Reads missed messages. Called again until all archives are read. */
  async catchUp(): Promise<void> {
    this.#isCatchingUp = true;
    await this.#catchUp.run((place) => place === this.#self || this.rooms.closed(place) === undefined);
    if (this.#gap === undefined) return;
    this.#gap = undefined;
    this.#options.state.session?.trouble(this.trouble);
  }

  /** Finds archives, sends presence and joins rooms. A resumed session keeps its rooms and archives. */
  async settle(how: 'new' | 'resumed'): Promise<void> {
    const session = this.#session;
    if (how === 'new') {
      const { all } = this.rooms;
      const places = [this.#self, ...all];
      const found = await Promise.all([
        featuresOf(session, this.#self),
        ...all.map((room) => featuresOfRoom(session, room)),
      ]);
      for (const [i, place] of places.entries()) {
        const features = found[i] ?? new Set();
        if (features.has(NS.mam)) this.#catchUp.behind(place);
        else if (features.size > 0 && !features.has(NS.sid)) this.#nameless.add(place);
      }
      await session.write(session.xml('presence'));
    }
    this.rooms.join();
    if (this.rooms.isSettled) return;
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
      session.after(session.timing.joinMs, resolve);
    });
  }

  /** Entries to store for this stanza. Empty if nothing needs storing. */
  onStanza(stanza: XmlElement): readonly Queued[] {
    if (stanza.name === 'presence') {
      const queued = this.#heard;
      queued.length = 0;
      this.rooms.onPresence(stanza);
      return queued.splice(0);
    }
    if (stanza.name !== 'message' || this.archive.take(stanza)) return [];
    const from = normalJid(stanza.attrs['from'] ?? this.#self);
    if (stanza.attrs['type'] === 'error') {
      this.#onError(stanza, from);
      return [];
    }
    const room = bareOf(from);
    const isGroup = stanza.attrs['type'] === 'groupchat';
    const place = isGroup ? room : this.#self;
    const { pending } = this.#options.state;
    const isOwnEcho = isGroup && resourceOf(from) === this.rooms.nickIn(room);
    if (isOwnEcho) {
      const archiveId = this.#archiveIdOf(stanza, room);
      const origin = stanza.getChild('origin-id', NS.sid)?.attrs['id'];
      if (!pending.echoed(originOf(stanza), archiveId) && origin !== undefined) pending.echoed(origin, archiveId);
    }
    // A message outside the archive is not held: it would be acknowledged without being stored anywhere.
    if (this.#archiveIdOf(stanza, place) !== undefined && this.#catchUp.hold(place, stanza)) return [];
    return [this.#ofLive(stanza, place)];
  }

  /** Pings our presence in each room (XEP-0410), to notice a room that has dropped us. */
  pingRooms(): void {
    const session = this.#session;
    const { xml } = session;
    for (const room of this.rooms.all) {
      if (this.rooms.closed(room) !== undefined) continue;
      const to = `${room}/${this.rooms.nickIn(room)}`;
      void session.request(xml('iq', { type: 'get', to }, xml('ping', { xmlns: NS.ping }))).catch((error: unknown) => {
        if ((error as { condition?: string }).condition === 'not-acceptable')
          this.rooms.lost(room, 'the room does not know us any more');
      });
    }
  }

  /** Member changes from the presence stanza being read. */
  readonly #heard: Queued[] = [];

  get #session(): Session {
    const { session } = this.#options.state;
    if (session === undefined) throw new Error('not connected');
    return session;
  }

  #makeRooms(): Rooms {
    const { account, log, state } = this.#options;
    return new Rooms({
      account,
      log,
      destroyed: state.destroyed,
      session: () => this.#session,
      since: (room) => {
        const at = this.hasArchive(room) ? undefined : this.#session.queue.cursor.seen[room]?.at;
        return at === undefined ? undefined : at - HISTORY_OVERLAP_MS;
      },
      member: ({ room, nick, user, change }) => {
        const arrival: Arrival = {
          id: `m:${this.#epoch}-${++this.#members}`,
          conversation: { id: room, kind: 'group' },
          user: { id: user, name: nick, admin: false },
          sentAt: Date.now(),
          kind: 'member',
          who: user,
          change,
        };
        this.#heard.push({ arrivals: [arrival] });
      },
      changed: (room, isJoined) => {
        if (isJoined && !this.hasArchive(room) && this.#session.queue.cursor.seen[room] === undefined)
          this.#session.queue.push({ arrivals: [], mark: { place: room, at: Date.now(), isFirm: true } });
        if (isJoined && this.#isCatchingUp && !this.#catchUp.isWhole(room)) void this.#catchUpLater();
        if (this.rooms.isSettled) this.#settled();
        this.#session.trouble(this.trouble);
      },
    });
  }

  /** For a room joined late. A failure degrades the account and is retried while the connection lasts. */
  async #catchUpLater(): Promise<void> {
    const session = this.#session;
    try {
      await this.catchUp();
    } catch (error) {
      if (this.#gap === undefined) this.#options.log.warn({ err: error }, 'the archive of a room could not be read');
      this.#gap = 'what was said in a room while the account was away has not come: its archive could not be read';
      session.trouble(this.trouble);
      if (this.#retriesOn === session) return;
      this.#retriesOn = session;
      session.after(session.timing.rejoinMs, () => {
        this.#retriesOn = undefined;
        void this.#catchUpLater();
      });
    }
  }

  #onError(stanza: XmlElement, from: string): void {
    const fault = faultOf(stanza);
    const { account, state } = this.#options;
    const id = stanza.attrs['id'] ?? '';
    const isOurServer = bareOf(from) === this.#self || from === domainOf(account);
    if (state.pending.refused(id, fault, isOurServer ? undefined : from)) return;
    this.#options.log.warn({ from, condition: fault.condition, text: fault.text }, 'a message did not arrive');
  }

  #archiveIdOf(stanza: XmlElement, place: string): string | undefined {
    return this.#nameless.has(place) ? undefined : archiveIdOf(stanza, place);
  }

  /** A room's archive may hold messages of that room only, and the account's archive none of a room. Others are dropped. */
  #ofArchive({ id, message, at }: Archived, mark: Mark): Queued {
    const { from = '', type } = message.attrs;
    const isOfPlace =
      mark.place === this.#self ? type !== 'groupchat' : type === 'groupchat' && bareOf(from) === mark.place;
    if (!isOfPlace || type === 'error') return { arrivals: [], mark };
    return { arrivals: this.#arrivals({ stanza: message, archiveId: id, sentAt: at, isArchived: true }), mark };
  }

  #ofLive(stanza: XmlElement, place: string): Queued {
    const archiveId = this.#archiveIdOf(stanza, place);
    const sentAt = Math.min(delayedAt(stanza) ?? Number.POSITIVE_INFINITY, Date.now());
    const arrivals = this.#arrivals({ stanza, archiveId, sentAt, isArchived: false });
    const isMarked = this.#catchUp.isWhole(place) && (archiveId !== undefined || !this.hasArchive(place));
    const mark = { place, at: sentAt, ...(archiveId === undefined ? {} : { id: archiveId }) };
    return { arrivals, mark: isMarked ? mark : undefined };
  }

  #arrivals(came: Came): readonly Arrival[] {
    const { ids, reactions } = this.#options.state;
    return arrivalsOf(came, {
      self: this.#self,
      nickIn: (room) => this.rooms.nickIn(room),
      occupant: (room, nick) => this.rooms.occupant(room, nick),
      ids,
      reactions,
    });
  }
}
