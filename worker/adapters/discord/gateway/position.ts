// Position of one gateway connection: its session, the last stored dispatch, and a gap that has to be fetched. The account's cursor holds it, so a
// new process continues after a kill.
//
//   DISCORD-POSITION-1  `session.seq` is the last stored dispatch, not the last received one. A resume replays everything after it.
//   DISCORD-POSITION-2  A new session that replaces an older one leaves a gap. `since` is the start of the gap, and stays until the gap is filled.
//   DISCORD-POSITION-3  The first session of all leaves no gap. A start position is stored before it begins, so that its messages count even if the
//                       process ends at once.
//   DISCORD-POSITION-4  A position of another application is ignored.
//   DISCORD-POSITION-5  A gap is filled channel by channel in ascending order of id. `reached` is the progress, from which a later process continues.
//   DISCORD-POSITION-6  A new session during the fill leaves a second gap in the channels that are done. That gap begins at `again` and is filled
//                       next.

import { isObject, type Json, listAt, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { keepNewest } from '../../../sdk/platform/keep-newest.ts';
import { isSnowflake, snowflakeAt, timeOf } from '../place.ts';

export interface Session {
  readonly id: string;
  readonly url: string;
  readonly seq: number;
}

/** Progress in filling the gap after `since`. All earlier channels are done, and this one up to `after`. */
export interface Reached {
  readonly since: string;
  readonly channel: string;
  readonly after: string;
}

/** Changes to the position that are stored together with a batch. */
export interface Behind {
  readonly session?: string;
  readonly seq?: number;
  readonly seen?: string | undefined;
  readonly reached?: Reached;
}

/** Tolerance for messages out of order and for differing clocks. The inbox drops messages that are fetched twice. */
export const MARGIN_MS = 60_000;
export const CLOCK_MARGIN_MS = 300_000;
const MOST_PEOPLE = 100;

export class Position {
  readonly #application: string;
  #session: Session | undefined;
  /** Id of the newest stored message. */
  #seen: string | undefined;
  #since: string | undefined;
  #reached: Reached | undefined;
  #again: string | undefined;
  #isFirst = false;
  /** Private channel to person, least recently used first. */
  readonly #people = new Map<string, string>();

  constructor(application: string, cursor: string | undefined) {
    this.#application = application;
    const saved = read(cursor);
    if (saved['v'] !== 1 || saved['application'] !== application) return;
    const session = isObject(saved['session']) ? saved['session'] : {};
    const [id, url, seq] = [textAt(session, 'id'), textAt(session, 'url'), session['seq']];
    if (id !== undefined && url !== undefined && typeof seq === 'number') this.#session = { id, url, seq };
    this.#seen = snowflakeIn(saved, 'seen');
    this.#since = snowflakeIn(saved, 'since');
    this.#reached = reachedIn(saved);
    this.#again = snowflakeIn(saved, 'again');
    for (const person of listAt(saved, 'people'))
      this.#people.set(textAt(person, 'channel') ?? '', textAt(person, 'user') ?? '');
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** The snowflake after which messages may have been missed. Undefined without a gap. */
  get since(): string | undefined {
    return this.#since;
  }

  /** Progress in filling the gap. Undefined before the first page. */
  get reached(): Reached | undefined {
    return this.#reached;
  }

  get privateChannels(): readonly string[] {
    return [...this.#people.keys()];
  }

  personIn(channel: string): string | undefined {
    return this.#people.get(channel);
  }

  /** Call before the connection opens, so that messages of the first session count. True if the cursor has to be stored now. */
  start(now: number): boolean {
    if (this.#seen !== undefined) return false;
    this.saw(snowflakeAt(now - CLOCK_MARGIN_MS));
    this.#isFirst = true;
    return true;
  }

  /** Starts a new session. A session before it leaves a gap. */
  begin(session: Session, now: number): void {
    const seenAt = this.#seen === undefined || this.#isFirst ? undefined : timeOf(this.#seen);
    this.#isFirst = false;
    if (seenAt !== undefined) {
      if (this.#reached !== undefined) this.#again ??= snowflakeAt(seenAt - MARGIN_MS); // channels that are done have a second gap
      this.#since ??= snowflakeAt(seenAt - MARGIN_MS);
    }
    this.#session = session;
    this.saw(snowflakeAt(now - CLOCK_MARGIN_MS));
  }

  /** Forgets the session, since it cannot be resumed any more. */
  drop(): void {
    this.#session = undefined;
  }

  /** Records the last stored dispatch of this session. */
  stored(session: string, seq: number): void {
    if (this.#session?.id === session && seq > this.#session.seq) this.#session = { ...this.#session, seq };
  }

  saw(message: string): void {
    if (isSnowflake(message) && (this.#seen === undefined || BigInt(message) > BigInt(this.#seen)))
      this.#seen = message;
  }

  met(channel: string, user: string): void {
    keepNewest(this.#people, [channel, user], MOST_PEOPLE);
  }

  /** Records progress in the gap. Ignores older progress, and progress in a gap that is filled already. */
  reach(reached: Reached): void {
    if (this.#since === reached.since && !isBehind(this.#reached, reached)) this.#reached = reached;
  }

  /** The gap is filled. A second gap takes effect at once. */
  filled(since: string): void {
    if (this.#since !== since) return;
    this.#since = this.#again;
    this.#reached = undefined;
    this.#again = undefined;
  }

  /** The cursor, including the changes that a batch brings. */
  text({ session, seq, seen, reached }: Behind = {}): string {
    const copy = new Position(this.#application, undefined);
    copy.#session = this.#session;
    copy.#seen = this.#seen;
    copy.#since = this.#since;
    copy.#reached = this.#reached;
    if (reached !== undefined) copy.reach(reached);
    if (session !== undefined && seq !== undefined) copy.stored(session, seq);
    if (seen !== undefined) copy.saw(seen);
    const people = [...this.#people].map(([channel, user]) => ({ channel, user }));
    return JSON.stringify({
      v: 1,
      application: this.#application,
      session: copy.#session,
      seen: copy.#seen,
      since: this.#since,
      reached: copy.#reached,
      again: this.#again,
      people,
    });
  }
}

function read(cursor: string | undefined): Json {
  try {
    const saved: unknown = JSON.parse(cursor ?? '{}');
    return isObject(saved) ? saved : {};
  } catch {
    return {};
  }
}

function snowflakeIn(saved: Json, key: string): string | undefined {
  const id = textAt(saved, key);
  return id !== undefined && isSnowflake(id) ? id : undefined;
}

function reachedIn(saved: Json): Reached | undefined {
  const reached = objectAt(saved, 'reached');
  const [since, channel, after] = ['since', 'channel', 'after'].map((key) => textAt(reached, key) ?? '');
  if (since === undefined || channel === undefined || after === undefined) return undefined;
  return since === textAt(saved, 'since') && [channel, after].every((id) => /^\d{1,21}$/.test(id))
    ? { since, channel, after }
    : undefined;
}

function isBehind(known: Reached | undefined, { channel, after }: Reached): boolean {
  if (known === undefined) return false;
  const [a, b] = [BigInt(known.channel), BigInt(channel)];
  return a > b || (a === b && BigInt(known.after) >= BigInt(after));
}
