// A client's place in the event history: the parse of its id and the decision how it goes on. Pure.
//
//   C1  An id is `<epoch>.<seq>`, parsed strictly; for clients it is opaque.
//   C2  The decision is taken in one order: malformed, epoch_changed, ahead, expired, else replay.
//   C3  Where "every event after it" cannot be kept, the answer is a gap that names reason, extent and where it goes on.
import type { GapReason } from '../../shared/api/event.ts';

export interface EventPosition {
  readonly epoch: string;
  readonly seq: number;
}

/** What there is: `oldest` is the lowest seq that is kept, head + 1 when nothing is. */
export interface HistoryBounds {
  readonly epoch: string;
  readonly head: number;
  readonly oldest: number;
}

export interface Gap {
  readonly reason: GapReason;
  /** The id that was asked for, cut to a length that is safe to repeat. */
  readonly requested: string;
  /** How many events lie in the hole; null when nobody can know. */
  readonly missed: number | null;
}

export type Resume =
  /** No id was given: only what comes from now on. */
  | { readonly kind: 'fresh'; readonly from: number }
  | { readonly kind: 'replay'; readonly from: number }
  | { readonly kind: 'gap'; readonly from: number; readonly gap: Gap };

const ID_PATTERN = /^([a-z0-9]{16})\.(0|[1-9][0-9]{0,15})$/;
const MAX_REQUESTED_LENGTH = 64;

export const formatEventId = (epoch: string, seq: number): string => `${epoch}.${seq}`;

/** The position in an id's text; undefined when it is not one of ours. */
export function parseEventId(text: string): EventPosition | undefined {
  const match = ID_PATTERN.exec(text);
  if (match === null) return undefined;
  const seq = Number(match[2]);
  return Number.isSafeInteger(seq) ? { epoch: match[1] ?? '', seq } : undefined;
}

/** How a client with this id goes on. `from` is the seq after which it reads; `anchor` says where a gap goes on. */
export function decideResume(id: string | undefined, bounds: HistoryBounds, anchor: 'oldest' | 'head'): Resume {
  if (id === undefined || id === '') return { kind: 'fresh', from: bounds.head };
  const position = parseEventId(id);
  const reason = gapReason(position, bounds);
  if (position !== undefined && reason === undefined) return { kind: 'replay', from: position.seq };

  const from = anchor === 'head' ? bounds.head : bounds.oldest - 1;
  const missed = reason === 'expired' && position !== undefined ? from - position.seq : null;
  return { kind: 'gap', from, gap: { reason: reason ?? 'malformed', requested: safeText(id), missed } };
}

/** The gap of a reader at `seq` whose next events are gone: trimmed before it began to read, or while it lagged. */
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
