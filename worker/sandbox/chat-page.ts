// Selects the messages of a conversation for one answer. Pure.
//
//   CHATPAGE-1  At most `limit` messages, in order of their first appearance. If several changed at once, a few more are included, so that
//               none is skipped.
//   CHATPAGE-2  Without a cursor, the newest messages. With one, the earliest changes after it, and `more` if further ones exist.
//   CHATPAGE-3  Omitted older messages are reported by `older`.

export interface PageRequest {
  readonly after: number | undefined;
  readonly limit: number;
}
export interface Page<T> {
  readonly messages: readonly T[];
  /** The position to continue from. */
  readonly cursor: number;
  /** More changes follow the cursor. */
  readonly more: boolean;
  /** Older messages exist that this page leaves out. */
  readonly older: boolean;
}

/** `messages` are in display order; `n` is the position of a message's last change. `isCut`: more messages exist that were not read. */
export function pageOf<T extends { readonly n: number }>(
  messages: readonly T[],
  { after, limit, isCut }: PageRequest & { readonly isCut: boolean },
): Page<T> {
  const head = Math.max(after ?? 0, ...messages.map(({ n }) => n));
  if (after === undefined) {
    const newest = messages.slice(-limit);
    return { messages: newest, cursor: head, more: false, older: isCut || newest.length < messages.length };
  }
  const changed = messages.filter(({ n }) => n > after);
  const last = changed.map(({ n }) => n).sort((a, b) => a - b)[limit - 1] ?? head;
  return { messages: changed.filter(({ n }) => n <= last), cursor: last, more: last < head, older: isCut };
}
