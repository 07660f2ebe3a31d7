// How far each archive is seen: the account's own, and one a room. Stored with the arrivals, as JSON. Pure.
//
//   U1  A mark moves its own place alone. While a place is catching up, only what comes out of its archive moves it: a crash meanwhile
//       begins again where the gap begins.
//   U2  A cursor of another account, or one that nobody can read, is none.

export interface Seen {
  /** Of the archive (XEP-0313); left out where there is none. */
  readonly id?: string;
  /** Epoch ms of the last message, by the server's clock. */
  readonly at: number;
}
/** Seen by place: the bare address of the account, or of a room. */
export interface Cursor {
  readonly jid: string;
  readonly seen: Readonly<Record<string, Seen>>;
}
export interface Mark extends Seen {
  readonly place: string;
  /** Stored even when nothing arrives with it. */
  readonly isFirm?: true;
}

export function advance(cursor: Cursor, { place, id, at }: Mark): Cursor {
  const seen = { ...(id === undefined ? {} : { id }), at };
  return { ...cursor, seen: { ...cursor.seen, [place]: seen } };
}

export const writeCursor = ({ jid, seen }: Cursor): string => JSON.stringify({ v: 1, jid, seen });

export function readCursor(text: string | undefined, jid: string): Cursor {
  const none: Cursor = { jid, seen: {} };
  try {
    const { v, jid: of, seen } = JSON.parse(text ?? '{}') as { v?: unknown; jid?: unknown; seen?: unknown };
    if (v !== 1 || of !== jid || typeof seen !== 'object' || seen === null) return none;
    const entries = Object.entries(seen as Record<string, Partial<Seen>>).filter(
      ([, one]) => typeof one?.at === 'number' && (one.id === undefined || typeof one.id === 'string'),
    );
    return { jid, seen: Object.fromEntries(entries) as Record<string, Seen> };
  } catch {
    return none;
  }
}
