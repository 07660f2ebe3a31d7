// Cursors of the archives, the account's and one for each room. All are stored as one JSON text with the arrivals. Pure.
//
//   XMPP-CURSOR-1  A mark moves the cursor of its own archive only. While an archive is being read, only its own messages move the cursor.
//                  After a crash the read therefore starts again at the beginning of the gap.
//   XMPP-CURSOR-2  A cursor of another account or an invalid one is ignored.

export interface Seen {
  /** Archive id (XEP-0313) of the last message. Left out if there is no archive. */
  readonly id?: string;
  /** Epoch ms of the last message, by the server's clock. */
  readonly at: number;
}
/** Positions by bare address of the account or room. */
export interface Cursor {
  readonly jid: string;
  readonly seen: Readonly<Record<string, Seen>>;
}
export interface Mark extends Seen {
  readonly place: string;
  /** Stored even without arrivals. */
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
