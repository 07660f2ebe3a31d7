// Names of conversations. Pure. People and groups are numbered separately, so the name states the kind.
//
//   private:<user>          a friend, or the bot itself
//   temp:<group>:<user>     a group member who is no friend, answered through the group
//   group:<group>
import type { Piece } from './message/cq-code.ts';
import { idOut } from './message/json.ts';

export type Place =
  | { readonly kind: 'private'; readonly user: string; readonly group?: string }
  | { readonly kind: 'group'; readonly group: string };

export function placeName(place: Place): string {
  if (place.kind === 'group') return `group:${place.group}`;
  return place.group === undefined ? `private:${place.user}` : `temp:${place.group}:${place.user}`;
}

/** Undefined if the text names no conversation. */
export function readPlace(name: string): Place | undefined {
  const [, kind, first = '', second] = /^(private|group|temp):(\d{1,20})(?::(\d{1,20}))?$/.exec(name) ?? [];
  if (kind === 'temp') return second === undefined ? undefined : { kind: 'private', group: first, user: second };
  if (kind === undefined || second !== undefined) return undefined;
  return kind === 'group' ? { kind, group: first } : { kind: 'private', user: first };
}

/** The call that sends this message to the conversation. */
export function messageTo(place: Place, message: readonly Piece[]): readonly [action: string, params: object] {
  if (place.kind === 'group') return ['send_group_msg', { group_id: idOut(place.group), message }];
  const through = place.group === undefined ? {} : { group_id: idOut(place.group) };
  return ['send_private_msg', { user_id: idOut(place.user), ...through, message }];
}
