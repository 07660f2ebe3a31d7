// Blanks at the edges of a text, found in time that grows with its length alone: a pattern that has to find where the last ones begin looks
// at each run of blanks anew from each of its places.

export interface Edges {
  readonly before: string;
  readonly inner: string;
  readonly after: string;
}

/** The same text in three; `inner` neither begins nor ends with a blank. */
export function edgesOf(text: string): Edges {
  const inner = text.trim();
  const start = text.length - text.trimStart().length;
  return { before: text.slice(0, start), inner, after: text.slice(start + inner.length) };
}
