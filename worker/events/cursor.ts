// A client's position in the event history: parses its event id and decides how the client resumes. Pure.
//
//   CURSOR-1  An id is `<epoch>.<seq>`, parsed strictly. For clients it is opaque.
//   CURSOR-2  The checks have a fixed order: malformed, epoch_changed, ahead, expired, otherwise replay.
//   CURSOR-3  If "every event after the id" cannot be delivered, the result is a gap. The gap has a reason, a size and the position to
//             continue from.
import type { GapReason } from '../../shared/api/event.ts';

export interface EventPosition {
  readonly epoch: string;
  readonly seq: number;
}

/** Bounds of the stored history. `oldest` is the lowest stored seq, or head + 1 if nothing is stored. */
export interface HistoryBounds {
  readonly epoch: string;
  readonly head: number;
  readonly oldest: number;
}

export interface Gap {
  readonly reason: GapReason;
  /** The requested id, cut to a safe length. */
  readonly requested: string;
  /** Number of events in the gap; null if it cannot be known. */
  readonly missed: number | null;
}

export type Resume =
  /** No id was given: the client gets new events only. */
  | { readonly kind: 'fresh'; readonly from: number }
  | { readonly kind: 'replay'; readonly from: number }
  | { readonly kind: 'gap'; readonly from: number; readonly gap: Gap };

const ID_PATTERN = /^([a-z0-9]{16})\.(0|[1-9][0-9]{0,15})$/;
const MAX_REQUESTED_LENGTH = 64;

export const formatEventId = (epoch: string, seq: number): string => `${epoch}.${seq}`;

/** The position in an id. Undefined if the text is not an event id. */
export function parseEventId(text: string): EventPosition | undefined {
  const match = ID_PATTERN.exec(text);
  if (match === null) return undefined;
  const seq = Number(match[2]);
  return Number.isSafeInteger(seq) ? { epoch: match[1] ?? '', seq } : undefined;
}

/** How a client with this id resumes. `from` is the seq after which it reads; `anchor` is where it continues after a gap. */
export function decideResume(id: string | undefined, bounds: HistoryBounds, anchor: 'oldest' | 'head'): Resume {
  if (id === undefined || id === '') return { kind: 'fresh', from: bounds.head };
  const position = parseEventId(id);
  const reason = gapReason(position, bounds);
  if (position !== undefined && reason === undefined) return { kind: 'replay', from: position.seq };

  const from = anchor === 'head' ? bounds.head : bounds.oldest - 1;
  const missed = reason === 'expired' && position !== undefined ? from - position.seq : null;
  return { kind: 'gap', from, gap: { reason: reason ?? 'malformed', requested: safeText(id), missed } };
}

/** The gap of a reader at `seq` whose next events were deleted, before its first read or while it lagged. */
export function trimmedGap(
  seq: number,
  bounds: HistoryBounds,
  began: boolean,
): { readonly from: number; readonly gap: Gap } {
  const from = bounds.oldest - 1;
  return {
    from,
    gap: {
      reason: began ? 'slow_consumer' : 'expired',
      requested: formatEventId(bounds.epoch, seq),
      missed: from - seq,
    },
  };
}

function gapReason(position: EventPosition | undefined, { epoch, head, oldest }: HistoryBounds): GapReason | undefined {
  if (position === undefined) return 'malformed';
  if (position.epoch !== epoch) return 'epoch_changed';
  if (position.seq > head) return 'ahead';
  return position.seq < oldest - 1 ? 'expired' : undefined;
}

const safeText = (id: string): string => id.slice(0, MAX_REQUESTED_LENGTH).replace(/[^\x21-\x7e]/g, '?');
