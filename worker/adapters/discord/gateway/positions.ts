// Positions of all connections of an account. Together they form the account's cursor.
//
//   DISCORD-POSITIONS-1  A cursor stored by one connection contains only committed positions of the others. Slightly older positions are safe,
//                        because a resume replays.
//   DISCORD-POSITIONS-2  As many connections are opened as before if that number is near Discord's advice. The saved sessions are resumed. Otherwise
//                        all sessions are dropped, and missed messages are fetched as after any gap.

import { isObject, type Json, listAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';
import { isSnowflake } from '../place.ts';
import { type Behind, Position } from './position.ts';

export class Positions {
  /** Index is the number of the shard. */
  readonly all: readonly Position[];
  readonly #application: string;

  constructor(application: string, cursor: string | undefined, advised: number) {
    this.#application = application;
    const saved = savedIn(application, cursor);
    const isNear = advised <= saved.length * 2 && saved.length <= advised * 2;
    const isKept = isNear && saved.some(({ session }) => isObject(session));
    const texts = isKept ? saved : spread(application, saved, advised);
    this.all = texts.map((one) => new Position(application, JSON.stringify(one)));
  }

  of(shard: number): Position {
    const position = this.all[shard];
    if (position === undefined) throw new Error(`there is no connection ${shard}`);
    return position;
  }

  /** Call before any connection opens. True if the cursor has to be stored now. */
  start(now: number): boolean {
    return this.all.map((position) => position.start(now)).includes(true);
  }

  /** The cursor, including the changes that a batch of this connection brings. */
  text(of?: Position, behind: Behind = {}): string {
    const texts = this.all.map((position) => position.text(position === of ? behind : {}));
    const [only = '', ...others] = texts;
    if (others.length === 0) return only;
    return `{"v":2,"application":${JSON.stringify(this.#application)},"shards":[${texts.join(',')}]}`;
  }
}

function savedIn(application: string, cursor: string | undefined): readonly Json[] {
  const saved = safeJson(cursor ?? '');
  if (!isObject(saved) || textAt(saved, 'application') !== application) return [];
  return saved['v'] === 2 ? listAt(saved, 'shards') : [saved];
}

/**
 * Distributes saved positions over another number of connections. All connections ended together, so the newest stored message counts. The earliest
 * gap counts, too.
 */
function spread(application: string, saved: readonly Json[], count: number): readonly Json[] {
  const inOrder = (key: string): readonly string[] =>
    saved
      .flatMap((one) => textAt(one, key) ?? [])
      .filter(isSnowflake)
      .sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const one = { v: 1, application, seen: inOrder('seen').at(-1), since: inOrder('since')[0] };
  const people = saved.flatMap((from) => listAt(from, 'people'));
  return Array.from({ length: count }, (_, shard) => (shard === 0 ? { ...one, people } : one));
}
