// The positions of all connections of an account, which are its cursor together.
//
//   N7  The text of one that stores something holds what is stored of the others: never more than is committed. A little less is replayed.
//   N8  As many connections are opened as there were, while that is near what Discord advises: their sessions are resumed. Where it is not, all
//       sessions are given up, and what was said meanwhile is fetched as after any gap.

import { isObject, type Json, listAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';
import { isSnowflake } from '../place.ts';
import { type Behind, Position } from './position.ts';

export class Positions {
  /** By shard. */
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

  /** Before anything is opened; true when it has to be stored now. */
  start(now: number): boolean {
    return this.all.map((position) => position.start(now)).includes(true);
  }

  /** The cursor, with what a batch of this one brings. */
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

/** N8. What was heard is as new as the newest of it, because they end together; what is missing begins with the oldest of that. */
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
