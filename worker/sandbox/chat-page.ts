// Which messages of a conversation one answer holds. Pure.
//
//   P1  At most `limit`, in the order in which they first came; a few more where several changed at once, so that none is passed over.
//   P2  Without a cursor the newest; after one the earliest changes behind it, and `more` while there are further ones.
//   P3  What is left out before the page is told (`older`), never silent.

export interface PageRequest {
  readonly after: number | undefined;
  readonly limit: number;
}
export interface Page<T> {
  readonly messages: readonly T[];
  /** Where to go on from. */
  readonly cursor: number;
  /** There are changes behind the cursor. */
  readonly more: boolean;
  /** There are messages from before this page that it should hold or that stand before it. */
  readonly older: boolean;
}

/** `messages` in their order; `n` is that of a message's last change. `isCut`: even more were not read. */
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
