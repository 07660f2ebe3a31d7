// How far a connection of an account has come: its gateway session, what of it is stored, and what has to be fetched. It is in the account's cursor, so a new
// process goes on where the one before it was killed.
//
//   N1  `session.seq` is the last dispatch that is stored, not the last one that came: a resume replays everything behind it.
//   N2  A new session where there was one before leaves a gap: `since` says from where, and stays until the gap is filled.
//   N3  The first session of all leaves no gap. It is known before it begins: what is said to it counts, even when the process ends at once.
//   N4  What was written for another application is nothing.
//   N5  A gap is filled channel by channel in the order of their ids; `reached` says how far. Whoever comes behind goes on there.
//   N6  A new session while a gap is being filled leaves one in what was filled, too: it begins at `again`, and its turn is next.

import { isObject, type Json, listAt, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { keepNewest } from '../../../sdk/platform/keep-newest.ts';
import { isSnowflake, snowflakeAt, timeOf } from '../place.ts';

export interface Session {
  readonly id: string;
  readonly url: string;
  readonly seq: number;
}

/** How far the gap behind `since` is filled: all of the channels before this one, and of it what is not newer. */
export interface Reached {
  readonly since: string;
  readonly channel: string;
  readonly after: string;
}

/** What a batch brings that is stored together with the cursor. */
export interface Behind {
  readonly session?: string;
  readonly seq?: number;
  readonly seen?: string | undefined;
  readonly reached?: Reached;
}

/** Messages may come a little out of their order, and clocks differ. What is fetched twice is taken once. */
export const MARGIN_MS = 60_000;
export const CLOCK_MARGIN_MS = 300_000;
const MOST_PEOPLE = 100;

export class Position {
  readonly #application: string;
  #session: Session | undefined;
  /** The newest message that is stored. */
  #seen: string | undefined;
  #since: string | undefined;
  #reached: Reached | undefined;
  #again: string | undefined;
  #isFirst = false;
  /** Channel → person, of private conversations; the ones written in last are at the end. */
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

  /** The snowflake behind which messages may have been missed; undefined when none were. */
  get since(): string | undefined {
    return this.#since;
  }

  /** N5. Undefined while nobody has begun to fill the gap. */
  get reached(): Reached | undefined {
    return this.#reached;
  }

  get privateChannels(): readonly string[] {
    return [...this.#people.keys()];
  }

  personIn(channel: string): string | undefined {
    return this.#people.get(channel);
  }

  /** N3. Before anything is opened; true when it has to be stored now. */
  start(now: number): boolean {
    if (this.#seen !== undefined) return false;
    this.saw(snowflakeAt(now - CLOCK_MARGIN_MS));
    this.#isFirst = true;
    return true;
  }

  /** N2. */
  begin(session: Session, now: number): void {
    const seenAt = this.#seen === undefined || this.#isFirst ? undefined : timeOf(this.#seen);
    this.#isFirst = false;
    if (seenAt !== undefined) {
      if (this.#reached !== undefined) this.#again ??= snowflakeAt(seenAt - MARGIN_MS); // N6
      this.#since ??= snowflakeAt(seenAt - MARGIN_MS);
    }
    this.#session = session;
    this.saw(snowflakeAt(now - CLOCK_MARGIN_MS));
  }

  /** The session cannot be resumed any more. */
  drop(): void {
    this.#session = undefined;
  }

  /** N1. */
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

  /** N5. What is behind that already, or is of a gap that is filled, changes nothing. */
  reach(reached: Reached): void {
    if (this.#since === reached.since && !isBehind(this.#reached, reached)) this.#reached = reached;
  }

  /** The gap is filled: the next one is there at once, if there is one. */
  filled(since: string): void {
    if (this.#since !== since) return;
    this.#since = this.#again;
    this.#reached = undefined;
    this.#again = undefined;
  }

  /** The cursor; with what a batch that is stored together with it brings. */
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
